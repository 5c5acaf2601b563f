// Package faultproxy stands in front of a real API server and breaks the conversation on demand.
//
// It owns faults that a network, a load balancer or an overloaded server causes: cut connections, half-open ones,
// answers that never arrive although the server acted, 4xx and 5xx, expired watches, outages. It never invents a
// healthy answer: whatever is not a fault is the answer of the server behind it.
//
// A Proxy terminates TLS, so client certificates cannot pass. It presents the credentials of the target upstream and
// hands out a kubeconfig with a CA and a bearer token of its own; a request without an accepted token gets 401 and
// reaches nothing. It listens on loopback only.
//
// Rules say which requests meet which fault (see [Rule], and [ParseRule] for the one-line form scripts use). The
// request log ([Proxy.Requests]) is what tests assert on; [Proxy.Await] waits for a request without polling. Hooks run
// between the arrival of a request and its forwarding ([Proxy.OnRequest]), and between the server's answer and its
// forwarding ([Proxy.OnAnswer]): the places where a client may be killed.
//
// Clients speak HTTP/2 to it, as they do to the real server, so that cutting one stream ([Stream]) and cutting the
// connection under all streams ([Conn]) are different faults.
package faultproxy
