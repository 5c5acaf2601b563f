package credentials

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// at lies in the present, for the handshake looks at the real clock.
var at = time.Now()

func ensure(t *testing.T, i instance.Instance, now time.Time) {
	t.Helper()
	if err := Ensure(i, now); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, i instance.Instance, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(i.Path("pki", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEnsureKeepsWhatFits(t *testing.T) {
	i := instance.Instance{Home: t.TempDir(), Runtime: instance.Containerd}
	ensure(t, i, at)
	moved := i
	moved.Slot = 4
	for name, test := range map[string]struct {
		instance             instance.Instance
		now                  time.Time
		caKept, adminKept    bool
		apiKept, signingKept bool
	}{
		"same again":         {i, at, true, true, true, true},
		"half a year on":     {i, at.Add(lifetime / 2), true, true, true, true},
		"other addresses":    {moved, at, true, true, false, true},
		"shortly before":     {i, at.Add(lifetime - renewal/2), false, false, false, true},
		"long after its end": {i, at.Add(3 * lifetime), false, false, false, true},
	} {
		files := map[string]bool{
			"ca.crt": test.caKept, "admin.crt": test.adminKept, "apiserver.crt": test.apiKept, "sa.key": test.signingKept,
		}
		before := map[string][]byte{}
		ensure(t, i, at) // whatever the case before left
		for file := range files {
			before[file] = content(t, i, file)
		}
		ensure(t, test.instance, test.now)
		for file, kept := range files {
			if got := bytes.Equal(before[file], content(t, i, file)); got != kept {
				t.Errorf("%s: %s kept: %v, want %v", name, file, got, kept)
			}
		}
		if err := os.RemoveAll(i.Path("pki")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNothingIsReadableForOthers(t *testing.T) {
	i := instance.Instance{Home: t.TempDir()}
	ensure(t, i, at)
	for _, pattern := range []string{"pki/*", "kubeconfig/*"} {
		files, err := filepath.Glob(i.Path(pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v", file, info.Mode(), err)
			}
		}
	}
}

// TestKubeconfigReachesServer makes the handshake that the API server and its users make, at each of its addresses.
func TestKubeconfigReachesServer(t *testing.T) {
	i := instance.Instance{Home: t.TempDir(), Slot: 2}
	ensure(t, i, at)
	data, err := os.ReadFile(i.Kubeconfig(Tenant))
	if err != nil {
		t.Fatal(err)
	}
	var config Kubeconfig
	if err := yaml.UnmarshalStrict(data, &config); err != nil {
		t.Fatal(err)
	}
	if got := config.Contexts[0].Context.Namespace; got != Tenant || config.Clusters[0].Cluster.Server != "https://127.0.0.1:16463" {
		t.Errorf("namespace %s, server %s", got, config.Clusters[0].Cluster.Server)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Clusters[0].Cluster.Authority)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		_, _ = w.Write([]byte(subject.CommonName + "/" + subject.Organization[0]))
	}))
	serving, err := tls.LoadX509KeyPair(i.Path("pki/apiserver.crt"), i.Path("pki/apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{serving}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	defer server.Close()
	mine, err := tls.X509KeyPair(config.Users[0].User.Certificate, config.Users[0].User.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.0.0.1", "10.98.0.1", "10.246.0.1", "kubernetes.default.svc"} {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{mine}, ServerName: name},
		}}
		response, err := client.Get("https://" + net.JoinHostPort("127.0.0.1", portOf(t, server.Listener)))
		if err != nil {
			t.Errorf("as %s: %v", name, err)
			continue
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(response.Body)
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if err != nil || body.String() != "tenant/tenants" {
			t.Errorf("as %s the server saw %q, %v", name, body.String(), err)
		}
	}
}

func portOf(t *testing.T, l net.Listener) string {
	t.Helper()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
