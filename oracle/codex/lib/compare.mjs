// Holds what the client said of one thread, and what it sent, against what it should. Every fault is one line.
import { isAside } from './history.mjs'
import { callOf, outputOf, short, sketch } from './items.mjs'

const CLOSER = 'TOOL_OUTCOME_UNKNOWN'
const NOT_STARTED = 'TOOL_NOT_STARTED'

/** `wanted` is what wantedOf gives, `answer` what ask gives for the thread, `prompt` the words of the new turn. */
export function faultsOf(wanted, answer, prompt) {
  const faults = []
  if (answer.read !== null) faults.push(`not read: ${answer.read}`)
  if (answer.resume !== null) return [...faults, ...unlisted(wanted, answer), `not resumed: ${answer.resume}`]
  if (answer.turn !== 'completed') return [...faults, `the turn ends with ${answer.turn}`]
  const { request } = answer
  if (request === undefined) return [...faults, 'no request was sent']
  faults.push(...unlisted(wanted, answer), ...unpaired(request), ...closers(request, wanted.cut), ...differences(request, wanted, prompt))
  return [...faults, ...hidden(wanted, answer)]
}

/** A thread in which nobody said anything is not listed, and need not be. */
function unlisted({ items }, { listed }) {
  return listed || !items.some(item => item.sketch?.startsWith('user: ')) ? [] : ['not listed']
}

/** The service wants exactly one output for a call, behind it. */
function unpaired(request) {
  const faults = []
  const calls = new Map()
  const outputs = new Map()
  for (const [at, item] of request.entries()) {
    const call = callOf(item)
    if (call !== undefined) calls.set(call.id, [...calls.get(call.id) ?? [], at])
    const output = outputOf(item)
    if (output !== undefined) outputs.set(output.id, [...outputs.get(output.id) ?? [], at])
  }
  for (const [id, at] of calls) {
    if (at.length > 1) faults.push(`call ${id} is sent twice`)
    const answers = outputs.get(id) ?? []
    if (answers.length === 0) faults.push(`call ${id} has no output`)
    if (answers.length > 1) faults.push(`call ${id} has ${answers.length} outputs`)
    if (answers.some(answer => answer < at[0])) faults.push(`the output of call ${id} stands before it`)
  }
  for (const id of outputs.keys()) if (!calls.has(id)) faults.push(`output ${id} has no call`)
  return faults
}

/** A call that was cut off gets the closer's words, or those of the tool where they are known. An old one may have the client's. */
function closers(request, cut) {
  const faults = []
  for (const [at, item] of request.entries()) {
    const output = outputOf(item)
    const was = cut.get(output?.id)
    if (was === undefined) continue
    if (output.text.startsWith(NOT_STARTED)) faults.push(`call ${output.id}: ${NOT_STARTED} is more than a rollout tells`)
    if (was.kind === 'search') continue
    const told = was.finished === undefined ? output.text.startsWith(CLOSER) : output.text.includes(was.finished.trim())
    if (!told && (was.last || output.text !== 'aborted')) faults.push(`call ${output.id} was cut off, and the model reads: ${short(output.text)}`)
    const between = request.slice(request.findIndex(other => callOf(other)?.id === output.id), at)
    if (between.some(other => other.type === 'message' && other.role === 'user')) faults.push(`the output of call ${output.id} comes after a later question`)
  }
  return faults
}

/** Everything that is wanted, in its order; and of what is not wanted, only what a client adds by itself. */
function differences(request, wanted, prompt) {
  const faults = []
  const left = request.map(item => ({ item, sketch: sketch(item), output: outputOf(item) }))
  let from = 0
  for (const want of wanted.items) {
    const ahead = left.findIndex((entry, at) => at >= from && isIt(want, entry))
    const at = ahead >= 0 ? ahead : left.findIndex(entry => isIt(want, entry))
    if (at < 0) {
      faults.push(`lost: ${short(want.sketch ?? `output ${want.output}: ${want.texts[0]}`)}`)
      continue
    }
    if (ahead < 0 && want.output === undefined) faults.push(`out of order: ${short(want.sketch)}`)
    // Outputs come as the tools end; that they stand behind their calls is for unpaired to say.
    if (want.output === undefined) from = Math.max(from, at + 1)
    left[at] = undefined
  }
  for (const entry of left) {
    if (entry === undefined || isAside(entry.item) || entry.sketch === `user: ${prompt}` || wanted.cut.has(entry.output?.id)) continue
    if (wanted.again.includes(entry.sketch)) continue
    faults.push(`not said before: ${short(entry.sketch)}`)
  }
  return faults
}

function isIt(want, entry) {
  if (entry === undefined) return false
  if (want.output === undefined) return same(want.sketch, entry.sketch)
  return entry.output?.id === want.output && want.texts.some(text => same(text, entry.output.text))
}

/** A byte that was no text is a question mark to one reader and a lozenge to another. */
const same = (want, got) => plain(want) === plain(got)
const plain = text => text.replace(/[?\ufffd]+/g, '?')

/** What a person sees. Turns of a legacy file may have names that the client made up. */
function hidden({ turns, named, shown, paginated }, answer) {
  const names = new Set(answer.shown.map(turn => turn.id))
  const texts = new Map(answer.shown.flatMap(turn => turn.items.map(item => [item.id, item.text])))
  const faults = turns.filter(id => !names.has(id)).map(id => `turn ${id} is not shown`)
  if (paginated) faults.push(...[...names].filter(id => !named.has(id)).map(id => `turn ${id} is shown and not on record`))
  for (const { id, text } of shown) {
    if (!texts.has(id)) faults.push(`item ${id} is not shown`)
    else if (text !== undefined && !same(text, texts.get(id))) faults.push(`item ${id} is shown with other words`)
  }
  return [...new Set(faults)]
}
