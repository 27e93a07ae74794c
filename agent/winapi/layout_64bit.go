//go:build amd64 || arm64

package winapi

var (
	_ = [1]byte{}[sizeOfInput-40]
	_ = [1]byte{}[offsetOfUnion-8]
	_ = [1]byte{}[sizeOfMouse-32]
	_ = [1]byte{}[offsetOfMouseFlag-12]
	_ = [1]byte{}[offsetOfMouseTag-24]
	_ = [1]byte{}[sizeOfKey-24]
	_ = [1]byte{}[offsetOfKeyFlag-4]
	_ = [1]byte{}[offsetOfKeyTag-16]
)
