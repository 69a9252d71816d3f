// Calls and outputs that do not pair.
import { REPAIRABLE, item, kind } from './draft.mjs'

const CALL = item('function_call')
const OUTPUT = item('function_call_output')
const CUT = /was cut off, and the model reads: aborted/

/** The file ends behind the first of these. */
const endsBehind = (fits, and = 0) => draft => draft.cut(draft.places(fits)[0] + 1 + and)

const without = (fits, nth = 0) => (draft) => {
  draft.remove(draft.places(fits).at(nth))
  draft.renumber()
}

const again = (fits, change = () => {}) => (draft) => {
  const [place] = draft.places(fits)
  draft.insert(place + 1, draft.lines[place])
  draft.edit(place + 1, change)
  draft.renumber()
}

function swapped(draft) {
  const [call] = draft.places(CALL)
  const [output] = draft.places(OUTPUT)
  const lines = [draft.lines[output], draft.lines[call]]
  draft.replace(call, lines[0])
  draft.replace(output, lines[1])
  draft.renumber()
}

const otherWords = (record) => { record.payload.output = 'something else' }
const otherClass = (record) => { record.payload.type = 'custom_tool_call_output' }

/** The kinds of call that only one session has. */
const toolCalls = [
  kind('cut-local-shell', 'tools', endsBehind(item('local_shell_call')), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-search', 'tools', endsBehind(item('tool_search_call'))),
  kind('cut-web-search', 'tools', endsBehind(item('web_search_call'))),
  kind('cut-custom-legacy', 'tools', endsBehind(item('custom_tool_call')), { asIs: CUT, verdict: REPAIRABLE }),
]

export const calls = [
  kind('cut-call', 'ferry', endsBehind(CALL), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-call-legacy', 'legacy', endsBehind(CALL), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-call-finished', 'ferry', endsBehind(CALL, 1), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-custom', 'ferry', endsBehind(item('custom_tool_call')), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-parallel', 'ferry', endsBehind(item('function_call', ({ call_id }) => call_id === 'call_sunday')), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-parallel-one-answered', 'ferry', endsBehind(item('function_call_output', ({ call_id }) => call_id === 'call_sunday')), { asIs: CUT, verdict: REPAIRABLE }),
  kind('cut-behind-an-output', 'ferry', endsBehind(OUTPUT)),
  kind('cut-call-torn', 'ferry', (draft) => {
    draft.cut(draft.places(CALL)[0] + 2)
    return draft.bytes().subarray(0, -60)
  }, { asIs: CUT, verdict: REPAIRABLE }),
  ...toolCalls,
  kind('old-call-without-output', 'ferry', without(OUTPUT)),
  kind('old-call-without-output-legacy', 'legacy', without(OUTPUT)),
  kind('last-call-without-output', 'ferry', without(item('custom_tool_call_output'))),
  kind('output-without-call', 'ferry', without(CALL)),
  kind('output-without-call-legacy', 'legacy', without(CALL)),
  kind('output-twice', 'ferry', again(OUTPUT), { asIs: /has 2 outputs/ }),
  kind('output-twice-other', 'ferry', again(OUTPUT, otherWords), { asIs: /has 2 outputs/ }),
  kind('output-twice-legacy', 'legacy', again(OUTPUT), { asIs: /has 2 outputs/ }),
  kind('output-of-another-class', 'ferry', (draft) => draft.edit(draft.places(OUTPUT)[0], otherClass)),
  kind('call-twice', 'ferry', again(CALL), { asIs: /is sent twice/ }),
  kind('call-twice-legacy', 'legacy', again(CALL), { asIs: /is sent twice/ }),
  kind('output-before-call', 'ferry', swapped, { asIs: /stands before it/ }),
  kind('output-before-call-legacy', 'legacy', swapped, { asIs: /stands before it/ }),
]
