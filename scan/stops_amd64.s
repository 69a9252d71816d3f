//go:build !purego

#include "textflag.h"

// One byte for each lane.
DATA quote<>+0x00(SB)/8, $0x2222222222222222
DATA quote<>+0x08(SB)/8, $0x2222222222222222
DATA quote<>+0x10(SB)/8, $0x2222222222222222
DATA quote<>+0x18(SB)/8, $0x2222222222222222
GLOBL quote<>(SB), RODATA|NOPTR, $32

DATA slash<>+0x00(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA slash<>+0x08(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA slash<>+0x10(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA slash<>+0x18(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL slash<>(SB), RODATA|NOPTR, $32

DATA control<>+0x00(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA control<>+0x08(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA control<>+0x10(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA control<>+0x18(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL control<>(SB), RODATA|NOPTR, $32

DATA nibble<>+0x00(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+0x08(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+0x10(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+0x18(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $32

// What a byte must reach to be the first of three, of four bytes, less the top bit.
DATA three<>+0x00(SB)/8, $0x6060606060606060
DATA three<>+0x08(SB)/8, $0x6060606060606060
DATA three<>+0x10(SB)/8, $0x6060606060606060
DATA three<>+0x18(SB)/8, $0x6060606060606060
GLOBL three<>(SB), RODATA|NOPTR, $32

DATA four<>+0x00(SB)/8, $0x7070707070707070
DATA four<>+0x08(SB)/8, $0x7070707070707070
DATA four<>+0x10(SB)/8, $0x7070707070707070
DATA four<>+0x18(SB)/8, $0x7070707070707070
GLOBL four<>(SB), RODATA|NOPTR, $32

DATA top<>+0x00(SB)/8, $0x8080808080808080
DATA top<>+0x08(SB)/8, $0x8080808080808080
DATA top<>+0x10(SB)/8, $0x8080808080808080
DATA top<>+0x18(SB)/8, $0x8080808080808080
GLOBL top<>(SB), RODATA|NOPTR, $32

// Two bytes in a row are wrong if all three tables share a bit for them: by the upper half of the first,
// by its lower half, and by the upper half of the second. The bits are
//   01 a first byte without the second   02 a second byte behind ASCII
//   04 three bytes for what needs two    08 beyond U+10FFFF
//   10 a surrogate                       20 two bytes for ASCII
//   40 four bytes for what needs three, or beyond U+10FFFF
//   80 two second bytes: right if the characters in front say so, which is checked apart
DATA lead<>+0x00(SB)/8, $0x0202020202020202
DATA lead<>+0x08(SB)/8, $0x4915012180808080
DATA lead<>+0x10(SB)/8, $0x0202020202020202
DATA lead<>+0x18(SB)/8, $0x4915012180808080
GLOBL lead<>(SB), RODATA|NOPTR, $32

DATA low<>+0x00(SB)/8, $0xcbcbcb8b8383a3e7
DATA low<>+0x08(SB)/8, $0xcbcbdbcbcbcbcbcb
DATA low<>+0x10(SB)/8, $0xcbcbcb8b8383a3e7
DATA low<>+0x18(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL low<>(SB), RODATA|NOPTR, $32

DATA next<>+0x00(SB)/8, $0x0101010101010101
DATA next<>+0x08(SB)/8, $0x01010101babaaee6
DATA next<>+0x10(SB)/8, $0x0101010101010101
DATA next<>+0x18(SB)/8, $0x01010101babaaee6
GLOBL next<>(SB), RODATA|NOPTR, $32

// What may stand behind a backslash, but for u: both tables, by the lower and the upper half, share a
// bit.
DATA escLow<>+0x00(SB)/8, $0x00040008000d0000
DATA escLow<>+0x08(SB)/8, $0x0104000200000000
DATA escLow<>+0x10(SB)/8, $0x00040008000d0000
DATA escLow<>+0x18(SB)/8, $0x0104000200000000
GLOBL escLow<>(SB), RODATA|NOPTR, $32

DATA escHigh<>+0x00(SB)/8, $0x0804020000010000
DATA escHigh<>+0x08(SB)/8, $0x0000000000000000
DATA escHigh<>+0x10(SB)/8, $0x0804020000010000
DATA escHigh<>+0x18(SB)/8, $0x0000000000000000
GLOBL escHigh<>(SB), RODATA|NOPTR, $32

// The end of a text is cut off with what stands n bytes in front of the middle.
DATA cut<>+0x00(SB)/8, $0xffffffffffffffff
DATA cut<>+0x08(SB)/8, $0xffffffffffffffff
DATA cut<>+0x10(SB)/8, $0xffffffffffffffff
DATA cut<>+0x18(SB)/8, $0xffffffffffffffff
DATA cut<>+0x20(SB)/8, $0xffffffffffffffff
DATA cut<>+0x28(SB)/8, $0xffffffffffffffff
DATA cut<>+0x30(SB)/8, $0xffffffffffffffff
DATA cut<>+0x38(SB)/8, $0xffffffffffffffff
DATA cut<>+0x40(SB)/8, $0x0000000000000000
DATA cut<>+0x48(SB)/8, $0x0000000000000000
DATA cut<>+0x50(SB)/8, $0x0000000000000000
DATA cut<>+0x58(SB)/8, $0x0000000000000000
DATA cut<>+0x60(SB)/8, $0x0000000000000000
DATA cut<>+0x68(SB)/8, $0x0000000000000000
DATA cut<>+0x70(SB)/8, $0x0000000000000000
DATA cut<>+0x78(SB)/8, $0x0000000000000000
GLOBL cut<>(SB), RODATA|NOPTR, $128

// UTF8(cur, prev) adds to Y12 what is wrong with the characters that end in cur; it uses Y5 to Y8.
#define UTF8(cur, prev) \
	VPERM2I128 $0x21, cur, prev, Y5 \
	VPALIGNR $15, Y5, cur, Y6 \
	VPSRLW   $4, Y6, Y7 \
	VPAND    nibble<>(SB), Y7, Y7 \
	VPSHUFB  Y7, Y9, Y7 \
	VPAND    nibble<>(SB), Y6, Y6 \
	VPSHUFB  Y6, Y10, Y6 \
	VPAND    Y6, Y7, Y7 \
	VPSRLW   $4, cur, Y6 \
	VPAND    nibble<>(SB), Y6, Y6 \
	VPSHUFB  Y6, Y11, Y6 \
	VPAND    Y6, Y7, Y7 \
	VPALIGNR $14, Y5, cur, Y6 \
	VPSUBUSB three<>(SB), Y6, Y6 \
	VPALIGNR $13, Y5, cur, Y8 \
	VPSUBUSB four<>(SB), Y8, Y8 \
	VPOR     Y8, Y6, Y6 \
	VPAND    top<>(SB), Y6, Y6 \
	VPXOR    Y6, Y7, Y7 \
	VPOR     Y7, Y12, Y12

// MASK(a, b, r) makes the top bits of the lanes of a and b the bits of r; it uses R9.
#define MASK(a, b, r) \
	VPMOVMSKB a, r \
	VPMOVMSKB b, R9 \
	SHLQ $32, R9 \
	ORQ  R9, r

// NOESC(v, to) marks the lanes of v that make no escape of two bytes; Y9 and Y10 hold the tables, Y11 is zero.
#define NOESC(v, to) \
	VPSHUFB  v, Y9, Y5 \
	VPSRLW   $4, v, to \
	VPAND    nibble<>(SB), to, to \
	VPSHUFB  to, Y10, to \
	VPAND    Y5, to, to \
	VPCMPEQB Y11, to, to

// func stopsAVX2(p *byte, n int, s *stops)
//
// SI is the place in the text, CX how many bytes are left, DI the place in the bit maps, R12 the
// struct. BX is escaped, R13 carry. A block of 64 bytes lies in Y0 and Y1.
TEXT ·stopsAVX2(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ s+16(FP), DI
	MOVQ DI, R12
	MOVQ 1040(R12), BX
	MOVQ 1048(R12), R13
	VMOVDQU quote<>(SB), Y15
	VMOVDQU slash<>(SB), Y14
	VMOVDQU control<>(SB), Y13
	VPXOR   Y12, Y12, Y12

block:
	TESTQ CX, CX
	JLE   done
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	CMPQ CX, $64
	JGE  whole
	LEAQ cut<>+64(SB), R8
	SUBQ CX, R8
	VPAND (R8), Y0, Y0
	VPAND 32(R8), Y1, Y1

whole:
	VPCMPEQB Y15, Y0, Y2
	VPCMPEQB Y15, Y1, Y3
	VPMINUB  Y13, Y0, Y4
	VPCMPEQB Y4, Y0, Y4
	VPOR     Y4, Y2, Y2
	VPMINUB  Y13, Y1, Y5
	VPCMPEQB Y5, Y1, Y5
	VPOR     Y5, Y3, Y3
	MASK(Y2, Y3, AX)
	VPCMPEQB Y14, Y0, Y2
	VPCMPEQB Y14, Y1, Y3
	MASK(Y2, Y3, DX)
	MOVQ     DX, R8
	ORQ      BX, R8
	JNZ      backslash

utf8:
	MASK(Y0, Y1, R8)
	MOVQ R8, R10
	ORQ  R13, R10
	JNZ  wide

store:
	MOVQ AX, (DI)
	MOVQ DX, 520(DI)
	ADDQ $64, SI
	ADDQ $8, DI
	SUBQ $64, CX
	JMP  block

backslash:
	// As in escaping: R8 the backslashes that are not escaped by the block in front, R9 where their rows
	// begin.
	MOVQ BX, R8
	NOTQ R8
	ANDQ DX, R8
	LEAQ (R8)(R8*1), R9
	NOTQ R9
	ANDQ R8, R9
	MOVQ $0x5555555555555555, R10
	ANDQ R10, R9
	ADDQ R8, R9
	ANDQ R8, R9 // the rows that begin at odd places
	MOVQ R9, R11
	XORQ R8, R11
	ANDQ R10, R11
	NOTQ R10
	ANDQ R10, R9
	ORQ  R11, R9          // escaping
	LEAQ (BX)(R9*2), R8   // escaped
	MOVQ R9, BX
	SHRQ $63, BX
	VMOVDQU escLow<>(SB), Y9
	VMOVDQU escHigh<>(SB), Y10
	VPXOR   Y11, Y11, Y11
	NOESC(Y0, Y2)
	NOESC(Y1, Y3)
	MASK(Y2, Y3, R10)
	ANDQ R8, R10
	NOTQ R8
	ANDQ R8, AX
	ORQ  R10, AX
	JMP  utf8

wide:
	VMOVDQU lead<>(SB), Y9
	VMOVDQU low<>(SB), Y10
	VMOVDQU next<>(SB), Y11
	VPXOR   Y4, Y4, Y4
	TESTQ   R13, R13
	JZ      fresh
	VMOVDQU -32(SI), Y4

fresh:
	MOVQ R8, R13
	SHRQ $61, R13 // whether a character may go on in the next block
	UTF8(Y0, Y4)
	UTF8(Y1, Y0)
	JMP  store

done:
	XORQ AX, AX
	MOVQ AX, (DI)
	MOVQ AX, 520(DI)
	MOVQ BX, 1040(R12)
	MOVQ R13, 1048(R12)
	VPTEST Y12, Y12
	JZ   right
	MOVQ $1, AX
	MOVQ AX, 1056(R12)

right:
	VZEROUPPER
	RET
