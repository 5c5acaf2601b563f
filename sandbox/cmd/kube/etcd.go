package main

import (
	"fmt"
	"net/url"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcdOptions are the few settings of a single etcd member that lives as long as the sandbox.
type etcdOptions struct {
	dataDir           string
	listenClient      string // unix://PATH or https://HOST:PORT
	cert, key, caCert string // mutual TLS; empty with a unix socket
}

func newEtcdCommand() *cobra.Command {
	var o etcdOptions
	cmd := &cobra.Command{
		Use:          "etcd",
		Short:        "Run one etcd member",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(cmd *cobra.Command, _ []string) error { return runEtcd(cmd, o) },
	}
	cmd.Flags().StringVar(&o.dataDir, "data-dir", "", "data directory")
	cmd.Flags().StringVar(&o.listenClient, "listen-client-url", "", "client URL, unix://PATH or https://HOST:PORT")
	cmd.Flags().StringVar(&o.cert, "cert-file", "", "serving certificate")
	cmd.Flags().StringVar(&o.key, "key-file", "", "serving key")
	cmd.Flags().StringVar(&o.caCert, "trusted-ca-file", "", "client CA: clients must present a certificate of it")
	return cmd
}

func runEtcd(cmd *cobra.Command, o etcdOptions) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := url.Parse(o.listenClient)
	if err != nil {
		return fmt.Errorf("--listen-client-url: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Name = "sandbox"
	cfg.Dir = o.dataDir
	cfg.LogLevel = "warn"
	cfg.UnsafeNoFsync = true // throw-away data: a lost power supply may lose it
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	peer := url.URL{Scheme: "unix", Host: "localhost:0"}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.ClientTLSInfo.CertFile, cfg.ClientTLSInfo.KeyFile = o.cert, o.key
	cfg.ClientTLSInfo.TrustedCAFile, cfg.ClientTLSInfo.ClientCertAuth = o.caCert, o.caCert != ""
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, "5m"
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer member.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-member.Err():
		return fmt.Errorf("etcd ended: %w", err)
	}
}
