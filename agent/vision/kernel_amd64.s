#include "textflag.h"

// func multiplyRows(weights *int8, pix *uint8, offsets *int, n, blocks int) int32
//
// Products of two pixels are added in 16 bits, which weights of up to 64 allow,
// then in 32: Y0 and Y1 are the sums, Y2 is 1 sixteen times.
TEXT ·multiplyRows(SB), NOSPLIT, $0-44
	MOVQ weights+0(FP), SI
	MOVQ pix+8(FP), DI
	MOVQ offsets+16(FP), R8
	MOVQ n+24(FP), R9
	MOVQ blocks+32(FP), R10
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1
	VPCMPEQW Y2, Y2, Y2
	VPSRLW   $15, Y2, Y2

row:
	MOVQ (R8), R11
	ADDQ $8, R8
	ADDQ DI, R11
	MOVQ R10, CX
	SUBQ $2, CX
	JLT  one

two:
	VMOVDQU    (R11), Y3
	VMOVDQU    32(R11), Y4
	VPMADDUBSW (SI), Y3, Y3
	VPMADDUBSW 32(SI), Y4, Y4
	VPMADDWD   Y2, Y3, Y3
	VPMADDWD   Y2, Y4, Y4
	VPADDD     Y3, Y0, Y0
	VPADDD     Y4, Y1, Y1
	ADDQ       $64, R11
	ADDQ       $64, SI
	SUBQ       $2, CX
	JGE        two

one:
	CMPQ CX, $-1
	JNE  next
	VMOVDQU    (R11), Y3
	VPMADDUBSW (SI), Y3, Y3
	VPMADDWD   Y2, Y3, Y3
	VPADDD     Y3, Y0, Y0
	ADDQ       $32, SI

next:
	DECQ R9
	JNE  row

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, AX
	VZEROUPPER
	MOVL         AX, ret+40(FP)
	RET

// func weighStrip(dots, squares *[32]float32, boxes, weights *float32, k, right, down int)
//
// Y0 to Y3 sum the products of the strip's 32 places, Y4 to Y7 the squares.
TEXT ·weighStrip(SB), NOSPLIT, $0-56
	MOVQ dots+0(FP), DI
	MOVQ squares+8(FP), SI
	MOVQ boxes+16(FP), R8
	MOVQ weights+24(FP), R9
	MOVQ k+32(FP), R10
	MOVQ right+40(FP), R11
	MOVQ down+48(FP), R12
	SHLQ $2, R11
	SHLQ $2, R12
	MOVQ R10, BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

line:
	MOVQ R8, DX
	MOVQ R10, CX

feature:
	VBROADCASTSS (R9), Y8
	VMOVUPS      (DX), Y9
	VMOVUPS      32(DX), Y10
	VMOVUPS      64(DX), Y11
	VMOVUPS      96(DX), Y12
	VFMADD231PS  Y8, Y9, Y0
	VFMADD231PS  Y8, Y10, Y1
	VFMADD231PS  Y8, Y11, Y2
	VFMADD231PS  Y8, Y12, Y3
	VFMADD231PS  Y9, Y9, Y4
	VFMADD231PS  Y10, Y10, Y5
	VFMADD231PS  Y11, Y11, Y6
	VFMADD231PS  Y12, Y12, Y7
	ADDQ         R11, DX
	ADDQ         $4, R9
	DECQ         CX
	JNE          feature
	ADDQ         R12, R8
	DECQ         BX
	JNE          line

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, (SI)
	VMOVUPS Y5, 32(SI)
	VMOVUPS Y6, 64(SI)
	VMOVUPS Y7, 96(SI)
	VZEROUPPER
	RET
