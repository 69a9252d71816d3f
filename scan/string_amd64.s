//go:build !purego

#include "textflag.h"

// The bytes compared with, one for each lane.
DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
DATA quotes<>+16(SB)/8, $0x2222222222222222
DATA quotes<>+24(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $32

DATA slashes<>+0(SB)/8, $0x5C5C5C5C5C5C5C5C
DATA slashes<>+8(SB)/8, $0x5C5C5C5C5C5C5C5C
DATA slashes<>+16(SB)/8, $0x5C5C5C5C5C5C5C5C
DATA slashes<>+24(SB)/8, $0x5C5C5C5C5C5C5C5C
GLOBL slashes<>(SB), RODATA|NOPTR, $32

DATA controls<>+0(SB)/8, $0x1F1F1F1F1F1F1F1F
DATA controls<>+8(SB)/8, $0x1F1F1F1F1F1F1F1F
DATA controls<>+16(SB)/8, $0x1F1F1F1F1F1F1F1F
DATA controls<>+24(SB)/8, $0x1F1F1F1F1F1F1F1F
GLOBL controls<>(SB), RODATA|NOPTR, $32

// Bytes that may stand behind a backslash, but for u.
DATA simple<>+0x00(SB)/8, $0
DATA simple<>+0x08(SB)/8, $0
DATA simple<>+0x10(SB)/8, $0
DATA simple<>+0x18(SB)/8, $0
DATA simple<>+0x20(SB)/8, $0x0000000000010000
DATA simple<>+0x28(SB)/8, $0x0100000000000000
DATA simple<>+0x30(SB)/8, $0
DATA simple<>+0x38(SB)/8, $0
DATA simple<>+0x40(SB)/8, $0
DATA simple<>+0x48(SB)/8, $0
DATA simple<>+0x50(SB)/8, $0
DATA simple<>+0x58(SB)/8, $0x0000000100000000
DATA simple<>+0x60(SB)/8, $0x0001000000010000
DATA simple<>+0x68(SB)/8, $0x0001000000000000
DATA simple<>+0x70(SB)/8, $0x0000000100010000
DATA simple<>+0x78(SB)/8, $0
GLOBL simple<>(SB), RODATA|NOPTR, $128

// func stringAVX2(p *byte, n int) (i int, esc bool)
//
// Bytes above 0x7F are negative in the signed comparison, so that one comparison tells both the
// control characters and what is no ASCII from plain text. R8 holds what is not plain in the 32
// bytes at AX, R9 whether an escape was met.
TEXT ·stringAVX2(SB), NOSPLIT, $0-25
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ AX, AX
	XORL R9, R9
	VMOVDQU quotes<>(SB), Y1
	VMOVDQU slashes<>(SB), Y2
	VMOVDQU controls<>(SB), Y3
	LEAQ simple<>(SB), R10
	SUBQ $33, CX // the last place where 32 bytes and one behind them can be read
	JLT  done

block:
	CMPQ AX, CX
	JGT  done
	VMOVDQU (SI)(AX*1), Y0
	VPCMPEQB Y1, Y0, Y4
	VPCMPEQB Y2, Y0, Y5
	VPCMPGTB Y3, Y0, Y6
	VPOR     Y4, Y5, Y4
	VPANDN   Y6, Y4, Y6
	VPMOVMSKB Y6, R8
	NOTL     R8
	TESTL    R8, R8
	JNZ      special
	ADDQ     $32, AX
	JMP      block

special:
	BSFL R8, DX
	LEAQ (AX)(DX*1), BX
	CMPB (SI)(BX*1), $0x5C
	JNE  found
	MOVBLZX 1(SI)(BX*1), DI
	CMPL DI, $0x7F
	JGT  found
	CMPB (R10)(DI*1), $0
	JEQ  found
	MOVL $1, R9
	ADDL $2, DX
	CMPL DX, $32
	JGE  next

	// Forget the escape and what lies in front of it.
	MOVL DX, R11
	MOVQ CX, R12
	MOVL R11, CX
	SHRL CX, R8
	SHLL CX, R8
	MOVQ R12, CX
	TESTL R8, R8
	JNZ  special
	ADDQ $32, AX
	JMP  block

next:
	ADDQ DX, AX
	JMP  block

found:
	MOVQ BX, AX

done:
	VZEROUPPER
	MOVQ AX, i+16(FP)
	MOVB R9, esc+24(FP)
	RET
