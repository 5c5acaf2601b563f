// Package credentials makes the certificates, keys and kubeconfigs of one sandbox.
//
// It owns the folders pki and kubeconfig of a home. Every user is a client certificate of the sandbox's own
// authority; nothing signs for longer than a year, and what is about to end or names other hosts is made anew.
package credentials

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	lifetime = 365 * 24 * time.Hour
	renewal  = 30 * 24 * time.Hour // what ends sooner than this is made anew
	skew     = time.Hour           // clocks may differ by this much
)

// Subject is whom a certificate is for.
type Subject struct {
	Name      string // file name below pki, without extension
	User      string // common name: the user that the API server sees
	Group     string // organization: the group that the API server sees; may be empty
	DNS       []string
	Addresses []netip.Addr
}

// Authority signs the certificates of one sandbox.
type Authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
	now  time.Time
}

// OpenAuthority reads the authority of a folder, or makes one.
func OpenAuthority(dir string, now time.Time) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, now: now}
	cert, key, err := readPair(dir, "ca")
	if err == nil && now.Add(renewal).Before(cert.NotAfter) {
		a.cert, a.key = cert, key
		return a, nil
	}
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "sandbox"},
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, IsCA: true, BasicConstraintsValid: true,
	}
	if a.key, err = newKey(); err != nil {
		return nil, err
	}
	a.cert, err = a.sign("ca", template, template, a.key)
	return a, err
}

// Issue makes the certificate of a subject, unless there is a fitting one.
func (a *Authority) Issue(s Subject) error {
	if cert, _, err := readPair(a.dir, s.Name); err == nil && a.fits(cert, s) {
		return nil
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: s.User},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:    s.DNS,
	}
	if s.Group != "" {
		template.Subject.Organization = []string{s.Group}
	}
	for _, address := range s.Addresses {
		template.IPAddresses = append(template.IPAddresses, address.AsSlice())
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	_, err = a.sign(s.Name, template, a.cert, key)
	return err
}

// fits tells whether a certificate is ours, lasts long enough and says what the subject says.
func (a *Authority) fits(cert *x509.Certificate, s Subject) bool {
	var addresses []netip.Addr
	for _, ip := range cert.IPAddresses {
		if address, ok := netip.AddrFromSlice(ip); ok {
			addresses = append(addresses, address.Unmap())
		}
	}
	var groups []string
	if s.Group != "" {
		groups = []string{s.Group}
	}
	return cert.CheckSignatureFrom(a.cert) == nil && a.now.Add(renewal).Before(cert.NotAfter) &&
		cert.Subject.CommonName == s.User && slices.Equal(cert.Subject.Organization, groups) &&
		slices.Equal(cert.DNSNames, s.DNS) && slices.Equal(addresses, s.Addresses)
}

func (a *Authority) sign(name string, template, parent *x509.Certificate, key crypto.Signer) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = serial, a.now.Add(-skew), a.now.Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	if err := writeKey(filepath.Join(a.dir, name+".key"), key); err != nil {
		return nil, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(filepath.Join(a.dir, name+".crt"), block, 0o600); err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// SigningKey makes the key pair that service account tokens are signed with (sa.key), once.
func (a *Authority) SigningKey() error {
	path := filepath.Join(a.dir, "sa.key")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	return writeKey(path, key)
}

func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func writeKey(path string, key crypto.Signer) error {
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return fmt.Errorf("%s: a key of type %T", path, key)
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

func readPair(dir, name string) (*x509.Certificate, crypto.Signer, error) {
	cert, certErr := readBlock(filepath.Join(dir, name+".crt"))
	key, keyErr := readBlock(filepath.Join(dir, name+".key"))
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParseCertificate(cert)
	if err != nil {
		return nil, nil, err
	}
	signer, err := x509.ParseECPrivateKey(key)
	return parsed, signer, err
}

func readBlock(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", path)
	}
	return block.Bytes, nil
}
