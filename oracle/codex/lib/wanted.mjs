// What a model must get of a thread, and what a person must see, by the whole records of its files.
import { itemsIn, textOf } from './history.mjs'
import { callOf, outputOf, sketch } from './items.mjs'

/**
 * { items, again, cut, turns, shown }. `items` are { sketch } or { output, texts }, of which one text must come. `again` are those of records
 * that stand there twice, to the letter: they may come once more. `cut` are the calls without output: id -> { kind, last, finished }:
 * whether no talk follows, and what the tool gave if that is on record elsewhere. `turns` and `shown` are what the client must show;
 * it may show any that are `named`.
 */
export function wantedOf({ inherited, own }) {
  const lines = [...inherited, ...own]
  const texts = lines.map(({ value }) => JSON.stringify(value))
  const first = new Map(texts.map((text, n) => [text, n]).reverse())
  const isFirst = (record, n) => first.get(texts[n]) === n
  const records = lines.filter(isFirst)
  const again = itemsIn(lines.filter((record, n) => !isFirst(record, n))).map(sketch)
  const all = itemsIn(records)
  const calls = new Map()
  const outputs = new Map()
  for (const item of all) {
    const call = callOf(item)
    if (call !== undefined && !calls.has(call.id)) calls.set(call.id, { ...call, item })
  }
  for (const output of all.map(outputOf)) {
    if (output !== undefined && calls.get(output.id)?.kind === output.kind) outputs.set(output.id, [...outputs.get(output.id) ?? [], output.text])
  }
  const seen = new Set()
  const items = all.flatMap((item) => {
    const output = outputOf(item)
    const id = output?.id ?? callOf(item)?.id
    const name = `${item.type} ${id}`
    if (id !== undefined && seen.has(name)) return []
    seen.add(name)
    if (output === undefined) return [{ sketch: sketch(item) }]
    return outputs.has(id) && calls.get(id).kind === output.kind ? [{ output: id, texts: outputs.get(id) }] : []
  })
  const cut = new Map()
  for (const [id, { kind, item }] of calls) {
    if (outputs.has(id)) continue
    cut.set(id, { kind, last: !all.slice(all.indexOf(item)).some(({ type }) => type === 'message'), finished: finishedIn(records, id) })
  }
  return { items, again, cut, ...displayOf(own), named: turnsIn(records), paginated: own.some(({ value }) => 'ordinal' in value) }
}

/** A tool's own report, when the output that was made of it is lost. */
function finishedIn(records, id) {
  const done = records.find(({ value: { payload } }) => payload.type === 'item_completed' && payload.item?.id === id)?.value.payload.item
  return done?.aggregated_output ?? done?.stdout
}

/**
 * Only what stands in the thread's own file: the client shows inherited turns elsewhere. Rolled back turns it hides. The texts are
 * those of people and models, the rest is known by its id.
 */
function displayOf(own) {
  const turns = []
  const shown = []
  for (const { value: { type, payload } } of own) {
    if (type !== 'event_msg') continue
    if (payload.type === 'task_started' && payload.turn_id) turns.push(payload.turn_id)
    if (payload.type === 'item_completed' && payload.item?.id) shown.push({ id: payload.item.id, text: saidIn(payload.item) })
    if (payload.type === 'thread_rolled_back') turns.splice(-payload.num_turns)
  }
  return { turns, shown }
}

const turnsIn = records => new Set(records.map(({ value: { payload } }) => payload.turn_id))

const saidIn = item => /^(User|Agent)Message$/.test(item.type) ? textOf(item.content) : undefined
