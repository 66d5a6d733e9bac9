/* A kernel as far as a backtrace needs one: functions at the places that a recording's symbols have for them, less what
   the kernel moved itself by (0x3000000), with frames of several kinds. Nothing here was ever run. */

	.cfi_sections .debug_frame

.macro FUNCTION name
	.section .kernel.\name, "ax", @progbits
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
.endm

.macro END name, size
	.fill \size - (. - \name), 1, 0x90
	.cfi_endproc
	.size \name, . - \name
.endm

/* At its first instruction. */
FUNCTION __traceiter_sched_switch
	ret
	END __traceiter_sched_switch, 0x80

/* With a frame pointer. */
FUNCTION __schedule
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %r15
	.cfi_offset %r15, -24
	END __schedule, 0xf00

/* Without one. */
FUNCTION schedule
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	END schedule, 0x80

/* One that saves the frame pointer and uses it for something else. */
FUNCTION do_wait
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	sub $0x58, %rsp
	.cfi_def_cfa_offset 0x68
	END do_wait, 0x100

FUNCTION kernel_wait4
	sub $0x88, %rsp
	.cfi_def_cfa_offset 0x90
	END kernel_wait4, 0x100

FUNCTION do_syscall_64
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	END do_syscall_64, 0x100

/* Nothing called it. */
FUNCTION entry_SYSCALL_64_after_hwframe
	.cfi_undefined %rip
	END entry_SYSCALL_64_after_hwframe, 0x100

	.section .note.GNU-stack, "", @progbits
