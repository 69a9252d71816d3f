// Holds what the client sent and did against what the damaged input and the repaired file hold. Every fault is one line.
import { isDeepStrictEqual } from 'node:util'
import { itemsOf, itemsOfAll } from './items.mjs'
import { plainRecords } from './records.mjs'
import { strandedIn } from './wanted.mjs'

/** Faults of one resume. `wanted` is what must be in the request, `resumed` what resume() gave. */
export function faultsOf(wanted, resumed) {
  const { status, err, said, requests, before, after, made } = resumed
  const main = requests.filter(request => request.main)
  if (main.length === 0) return [`does not resume: status ${status}, ${short(err || String(said?.result))}`]
  const faults = main.filter(request => request.refusal !== null).map(({ refusal }) => `the service refuses the request: ${refusal.rule}, ${short(refusal.message)}`)
  if (faults.length === 0 && (status !== 0 || said?.is_error !== false)) faults.push(`the client ends with ${status}: ${short(String(said?.result ?? err))}`)
  const sent = itemsOfAll(main[0].messages ?? [])
  faults.push(...unpaired(sent), ...invented(sent, resultsIn(before)), ...dropped(sent, before), ...missing(wanted, sent))
  // The client asks again after a refusal, so some come in numbers.
  return [...new Set([...faults, ...touched(before, after, made)])]
}

/** Every call has its one result directly behind it. */
function unpaired(sent) {
  const faults = []
  const open = new Set()
  const known = new Set()
  const close = () => {
    for (const id of open) faults.push(`call ${id} has no result directly behind it`)
    open.clear()
  }
  for (const item of sent) {
    if ('call' in item) {
      if (known.has(item.call)) faults.push(`call ${item.call} is sent twice`)
      known.add(item.call)
      open.add(item.call)
    } else if ('result' in item) {
      if (!open.delete(item.result)) faults.push(`a result answers no open call: ${item.result}`)
    } else {
      close()
    }
  }
  close()
  return faults
}

/** Results that stand in no record of the repaired file, or not with these words, are made up by the client. */
function invented(sent, stored) {
  return sent.filter(item => 'result' in item).flatMap((item) => {
    const texts = stored.get(item.result)
    if (texts === undefined) return [`the client answered call ${item.result} itself: ${short(item.text)}`]
    return texts.some(text => text.trim() === '' || same(text, item.text)) ? [] : [`call ${item.result} gets another answer than the file holds: ${short(item.text)}`]
  })
}

/** A result without its call vanishes silently: a repair must not leave one. */
function dropped(sent, before) {
  const got = new Set(sent.map(item => item.result))
  return strandedIn(plainRecords(before)).filter(id => !got.has(id)).map(id => `the client drops a result that has no call: ${id}`)
}

/** Texts must keep their order. A call is found by its id, or by what it asks for when a repair had to give it a new one. */
function missing(wanted, sent) {
  const faults = []
  const calls = sent.filter(item => 'call' in item)
  let from = 0
  for (const want of wanted) {
    if ('text' in want) {
      const fits = item => 'text' in item && item.role === want.role && same(want.text, item.text)
      const at = sent.findIndex((item, n) => n >= from && fits(item))
      if (at >= 0) from = at + 1
      else faults.push(`${want.role} text ${short(want.text)} is ${sent.some(fits) ? 'out of order' : 'lost'}`)
      continue
    }
    const asks = call => call.name === want.name && isDeepStrictEqual(call.input, want.input)
    const call = take(calls, call => call.call === want.call && asks(call)) ?? take(calls, call => call.call === want.call) ?? take(calls, asks)
    if (call === undefined) {
      faults.push(`call ${want.call} is lost`)
    } else if (want.answers.some(text => text.trim() !== '') && !sent.some(item => item.result === call.call && want.answers.some(text => same(text, item.text)))) {
      faults.push(`the answer of call ${want.call} is lost: ${short(want.answers[0])}`)
    }
  }
  return faults
}

function take(list, fits) {
  const at = list.findIndex(fits)
  return at < 0 ? undefined : list.splice(at, 1)[0]
}

/** The client may append its new turn and its own notes. It has no cause to do anything else. */
function touched(before, after, made) {
  const faults = made.map(name => `the client made another transcript: ${name}`)
  if (after === null || !after.subarray(0, before.length).equals(before)) return [...faults, 'the client rewrote the file']
  const added = after.subarray(before.length)
  if (added[0] === 0x0a) faults.push('the client had to end the last line')
  for (const id of resultsIn(added).keys()) faults.push(`the client appended a result for call ${id}`)
  return faults
}

/** Call id -> texts of its results in the records of a file. */
function resultsIn(bytes) {
  const results = new Map()
  for (const record of plainRecords(bytes)) {
    if (record.type !== 'user') continue
    for (const item of itemsOf(record.message)) if ('result' in item) results.set(item.result, [...results.get(item.result) ?? [], item.text])
  }
  return results
}

const same = (want, got) => want.trim() === got.trim()

function short(text) {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 157)}...` : line
}
