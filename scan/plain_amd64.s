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

// func plainAVX2(p *byte, n int) int
//
// Bytes above 0x7F are negative in the signed comparison, so that one comparison tells both the
// control characters and what is no ASCII from plain text.
TEXT ·plainAVX2(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ AX, AX
	VMOVDQU quotes<>(SB), Y1
	VMOVDQU slashes<>(SB), Y2
	VMOVDQU controls<>(SB), Y3

loop:
	LEAQ 32(AX), BX
	CMPQ BX, CX
	JGT  done
	VMOVDQU (SI)(AX*1), Y0
	VPCMPEQB Y1, Y0, Y4
	VPCMPEQB Y2, Y0, Y5
	VPCMPGTB Y3, Y0, Y6
	VPOR     Y4, Y5, Y4
	VPANDN   Y6, Y4, Y6
	VPMOVMSKB Y6, DX
	NOTL     DX
	TESTL    DX, DX
	JNZ      found
	MOVQ     BX, AX
	JMP      loop

found:
	BSFL DX, DX
	ADDQ DX, AX

done:
	VZEROUPPER
	MOVQ AX, ret+16(FP)
	RET
