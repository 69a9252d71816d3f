package finding

// Findings about bytes.
const (
	TornTail          Code = "TORN_TAIL"
	TornLine          Code = "TORN_LINE"
	GluedTorn         Code = "GLUED_TORN"
	GluedWhole        Code = "GLUED_WHOLE"
	SplitRecord       Code = "SPLIT_RECORD"
	NulTail           Code = "NUL_TAIL"
	NulLine           Code = "NUL_LINE"
	NulPad            Code = "NUL_PAD"
	BadUTF8           Code = "BAD_UTF8"
	ControlChar       Code = "CONTROL_CHAR"
	BOM               Code = "BOM"
	BlankLine         Code = "BLANK_LINE"
	NoFinalNewline    Code = "NO_FINAL_NEWLINE"
	NotObject         Code = "NOT_OBJECT"
	TornFrame         Code = "TORN_FRAME"
	FrameChecksum     Code = "FRAME_CHECKSUM"
	FrameHeader       Code = "FRAME_HEADER"
	FrameGarbage      Code = "FRAME_GARBAGE"
	FrameSkippable    Code = "FRAME_SKIPPABLE"
	FrameUnverifiable Code = "FRAME_UNVERIFIABLE"
	HeaderFrame       Code = "HEADER_FRAME"
	RawAfterFrame     Code = "RAW_AFTER_FRAME"
)

// Findings about the header and single records.
const (
	HeaderMissing     Code = "HEADER_MISSING"
	HeaderCorrupt     Code = "HEADER_CORRUPT"
	HeaderInvalid     Code = "HEADER_INVALID"
	HeaderMisplaced   Code = "HEADER_MISPLACED"
	VersionUnknown    Code = "VERSION_UNKNOWN"
	VersionOld        Code = "VERSION_OLD"
	SessionIDMismatch Code = "SESSION_ID_MISMATCH"
	EventUnknown      Code = "EVENT_UNKNOWN"
	EventInvalid      Code = "EVENT_INVALID"
)

// Findings about numbers.
const (
	SeqDup     Code = "SEQ_DUP"
	SeqFork    Code = "SEQ_FORK"
	SeqGap     Code = "SEQ_GAP"
	SeqMissing Code = "SEQ_MISSING"
)

// Findings about the tree that records make.
const (
	ParentMissing Code = "PARENT_MISSING"
	ParentCycle   Code = "PARENT_CYCLE"
	ChainCut      Code = "CHAIN_CUT"
	WrongLeaf     Code = "WRONG_LEAF"
	IDConflict    Code = "ID_CONFLICT"
	IDRepeated    Code = "ID_REPEATED"

	UnreachableWork Code = "UNREACHABLE_WORK"
)

// Findings about calls.
const (
	DanglingCall    Code = "DANGLING_CALL"
	OrphanResult    Code = "ORPHAN_RESULT"
	DisplacedResult Code = "DISPLACED_RESULT"
	StartMissing    Code = "START_MISSING"
	DupResult       Code = "DUP_RESULT"
	FalseCloser     Code = "FALSE_CLOSER"
	EmptyCallID     Code = "EMPTY_CALL_ID"
	CallIDReused    Code = "CALL_ID_REUSED"
)

// Findings about what the provider makes of the next request.
const ProviderRejects Code = "PROVIDER_REJECTS"

// Findings about turns, steps and what stands open.
const (
	OpenTurn       Code = "OPEN_TURN"
	OpenStep       Code = "OPEN_STEP"
	TurnNesting    Code = "TURN_NESTING"
	StepNesting    Code = "STEP_NESTING"
	OpenAttempt    Code = "OPEN_ATTEMPT"
	OpenCompaction Code = "OPEN_COMPACTION"
	OpenApproval   Code = "OPEN_APPROVAL"
	LineageBroken  Code = "LINEAGE_BROKEN"
	WontMigrate    Code = "WONT_MIGRATE"
	MayHaveRun     Code = "MAY_HAVE_RUN"
)

// Findings about a home and about who else is at work.
const (
	DualEncoding       Code = "DUAL_ENCODING"
	FlatLayout         Code = "FLAT_LAYOUT"
	GenerationBeside   Code = "GENERATION_BESIDE"
	SessionIDDuplicate Code = "SESSION_ID_DUPLICATE"
	LiveSession        Code = "LIVE_SESSION"
	ConcurrentWriters  Code = "CONCURRENT_WRITERS"
	RepairPending      Code = "REPAIR_PENDING"
	DerivedStale       Code = "DERIVED_STALE"
	DerivedMismatch    Code = "DERIVED_MISMATCH"
	PlanConflict       Code = "PLAN_CONFLICT"
	SessionHusk        Code = "SESSION_HUSK"
	RetentionNear      Code = "RETENTION_NEAR"
	SubagentCutOff     Code = "SUBAGENT_CUT_OFF"
	SubagentStray      Code = "SUBAGENT_STRAY"
	IndexEmpty         Code = "INDEX_EMPTY"
	IndexCorrupt       Code = "INDEX_CORRUPT"
	IndexStale         Code = "INDEX_STALE"
	IndexMissing       Code = "INDEX_MISSING"
	SpillMissing       Code = "SPILL_MISSING"
	EmptyHistory       Code = "EMPTY_HISTORY"
	SidecarEmpty       Code = "SIDECAR_EMPTY"
	SidecarCorrupt     Code = "SIDECAR_CORRUPT"
	SidecarMissing     Code = "SIDECAR_MISSING"
	LeftoverTemp       Code = "LEFTOVER_TEMP"
	ClientBackup       Code = "CLIENT_BACKUP"
)

// What closers say. They are no findings.
const (
	ToolNotStarted     = "TOOL_NOT_STARTED"
	ToolOutcomeUnknown = "TOOL_OUTCOME_UNKNOWN"
	ResultRestored     = "RESULT_RESTORED"
)

// LookFirst is what each result says, last, of a call that may have run.
const LookFirst = "It may have run completely, in part, or not at all. Look at its effects first: files, processes, services. Repeat it only if that is harmless; otherwise ask the user."
