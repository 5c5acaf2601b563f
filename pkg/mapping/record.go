package mapping

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

const (
	compressAbove = 32 << 10 // bytes of JSON from which on the record is stored compressed
	maxUnpacked   = 4 << 20  // bytes of JSON that a stored record may unpack to
	packedPrefix  = "gzip:"
)

// Canonical is the document as JSON with sorted keys and without fields that were never set: the same document gives
// the same bytes in every version of this program.
func Canonical(w *v1beta2.Work) ([]byte, error) {
	data, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(prune(tree)); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// alwaysWritten are the struct fields that the API types write as {} although nobody set them.
var alwaysWritten = map[string]bool{"resources": true, "metadata": true}

// prune drops nulls, and the empty structs that the encoder adds by itself.
func prune(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for key, value := range node {
			value = prune(value)
			m, isMap := value.(map[string]any)
			if value == nil || isMap && len(m) == 0 && alwaysWritten[key] {
				delete(node, key)
				continue
			}
			node[key] = value
		}
	case []any:
		for i := range node {
			node[i] = prune(node[i])
		}
	}
	return tree
}

// Hash is the sha256, in hex, of the canonical document before defaulting and without what a submit injects.
func Hash(w *v1beta2.Work) (string, error) {
	data, err := Canonical(w)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// EncodeSpec is the stored form of a document: canonical JSON, compressed above 32 KiB.
func EncodeSpec(w *v1beta2.Work) (string, error) {
	data, err := Canonical(w)
	if err != nil {
		return "", err
	}
	if len(data) > maxUnpacked {
		return "", fmt.Errorf("the document has %d bytes, the most is %d", len(data), maxUnpacked)
	}
	if len(data) <= compressAbove {
		return string(data), nil
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(data); err != nil {
		return "", fmt.Errorf("compress document: %w", err)
	}
	if err := zip.Close(); err != nil {
		return "", fmt.Errorf("compress document: %w", err)
	}
	return packedPrefix + base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// ErrNoRecord says that a Job carries no document of ours.
var ErrNoRecord = errors.New("the Job carries no Work document")

// ErrNewer says that a newer version of this program wrote the document: it may be looked at, not written.
var ErrNewer = errors.New("its document was written by a newer version of kubectl work and has fields that this one does not know: use that version")

// DecodeSpec reads the document that a Job carries, tolerantly: fields of a newer version are dropped from the result
// and reported by newer.
func DecodeSpec(job *batchv1.Job) (w *v1beta2.Work, newer bool, err error) {
	text := job.Annotations[work.AnnotationSpec]
	if text == "" {
		return nil, false, ErrNoRecord
	}
	data := []byte(text)
	if packed, ok := strings.CutPrefix(text, packedPrefix); ok {
		if data, err = unpack(packed); err != nil {
			return nil, false, fmt.Errorf("annotation %s: %w", work.AnnotationSpec, err)
		}
	}
	w = &v1beta2.Work{}
	if err := json.Unmarshal(data, w); err != nil {
		return nil, false, fmt.Errorf("annotation %s: %w", work.AnnotationSpec, err)
	}
	again, err := Canonical(w)
	if err != nil {
		return nil, false, err
	}
	return w, !bytes.Equal(again, data), nil
}

func unpack(packed string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(zip, maxUnpacked+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxUnpacked {
		return nil, fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
	}
	return data, nil
}
