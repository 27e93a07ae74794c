package winapi

var (
	_ = [1]byte{}[sizeOfInput-28]
	_ = [1]byte{}[offsetOfUnion-4]
	_ = [1]byte{}[sizeOfMouse-24]
	_ = [1]byte{}[offsetOfMouseFlag-12]
	_ = [1]byte{}[offsetOfMouseTag-20]
	_ = [1]byte{}[sizeOfKey-16]
	_ = [1]byte{}[offsetOfKeyFlag-4]
	_ = [1]byte{}[offsetOfKeyTag-12]
)
