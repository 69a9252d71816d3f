// Is that what a model must read, and a person see? The client's answer against what the files said.
import { DENIED, HISTORY, LOG, callsIn, itemsOf, liveOf, recordsIn, resultsIn, updateOf } from './session.mjs'

/** Messages as they are sent -> items. */
export const itemsSent = messages => messages.filter(({ role }) => role !== 'system').flatMap(itemsOf)

/** Each call has one result, in the run right behind the answer that asks, and no result lacks its call. */
export function pairingFaults(messages) {
  const faults = []
  let open = new Set()
  let known = new Set()
  const close = () => {
    for (const id of open) faults.push(`call ${id} has no result`)
  }
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (!open.delete(id)) faults.push(known.has(id) ? `call ${id} has two results` : `result ${id} has no call in front of it`)
      continue
    }
    close()
    open = new Set(calls.map(call => call.id))
    known = new Set(open)
  }
  close()
  return faults
}

/** Results that no record of the repaired history holds, that are the client's own, or that hide what is on record. */
export function inventedFaults(items, before, after) {
  const stored = new Set(recordsIn(after, HISTORY).flatMap(itemsOf).flatMap(({ result, text }) => result === undefined ? [] : `${result} ${text}`))
  const real = resultsIn(before)
  return items.flatMap(({ result, text }) => {
    if (result === undefined) return []
    if (!stored.has(`${result} ${text}`)) return [`the client made up the result of ${result}: ${short(text)}`]
    if (DENIED.test(text)) return [`the model reads of call ${result}: ${short(text)}`]
    const known = real.get(result)
    if (known === undefined || known.includes(text)) return []
    return [`the result of ${result} is on record, and the model reads: ${short(text)}`]
  })
}

/** What must come and does not, or not in its order. A text may be part of a longer one. */
export function missingFaults(wanted, items) {
  const faults = []
  let from = 0
  for (const item of wanted) {
    const at = items.findIndex((other, n) => n >= (item.result === undefined ? from : startOfRun(items, from)) && fits(item, other))
    if (at >= 0) from = Math.max(from, at + 1)
    else faults.push(`${items.some(other => fits(item, other)) ? 'out of order' : 'lost'}: ${nameOf(item)}${item.elsewhere ? ', which the log has' : ''}`)
  }
  return faults
}

/** Results that stand together may do so in any order. */
function startOfRun(items, from) {
  let start = from
  while (start > 0 && items[start - 1].result !== undefined) start -= 1
  return start
}

function fits(item, other) {
  if (item.call !== undefined) return other.call === item.call
  if (item.result !== undefined) return other.result === item.result
  return other.role === item.role && other.text.includes(item.text)
}

/**
 * What the model must read. Of the healthy history, where it is known, all that is still whole in the damaged one or on its log; else what is
 * whole in the damaged one, where results may stand in a wrong place or lack their call.
 */
export function wantedItems(before, healthy) {
  const whole = recordsIn(before, HISTORY).flatMap(itemsOf)
  if (healthy === undefined) {
    const calls = callsIn(before)
    const results = new Set()
    return whole.filter((item) => {
      if (item.result === undefined) return !isOwn(item)
      const first = !results.has(item.result)
      results.add(item.result)
      return first && calls.has(item.result) && inPlace(before, item.result)
    })
  }
  const live = liveOf(recordsIn(before, LOG).map(updateOf))
  const told = role => live.filter(({ sessionUpdate: kind }) => kind === (role === 'user' ? 'user_message_chunk' : 'agent_message_chunk')).map(({ content }) => content?.text)
  const ended = resultsIn(before)
  const said = { user: new Set(told('user')), assistant: new Set(told('assistant')) }
  return recordsIn(healthy, HISTORY).flatMap(itemsOf).filter(item => !isOwn(item)).flatMap((item) => {
    if (whole.some(other => fits(item, other))) return [item]
    if (item.call !== undefined) return live.some(({ toolCallId: id }) => id === item.call) ? [{ ...item, elsewhere: true }] : []
    if (item.result !== undefined) return ended.has(item.result) ? [{ ...item, elsewhere: true }] : []
    return said[item.role].has(item.text.replace(/^<user_query>\n|\n<\/user_query>$/g, '')) ? [{ ...item, elsewhere: true }] : []
  })
}

/** What the client says of itself to the model: it may say that anew. */
const isOwn = ({ role, text }) => role === 'user' && /^<(user_info|system-reminder)>/.test(text)

/** Does the result follow its call, with nothing but results between? */
function inPlace(files, id) {
  const items = recordsIn(files, HISTORY).flatMap(itemsOf)
  const at = items.findIndex(({ result }) => result === id)
  const run = items.slice(0, at).findLastIndex(({ result }) => result === undefined)
  const calls = items.slice(items.slice(0, run + 1).findLastIndex(({ call }) => call === undefined) + 1, run + 1)
  return calls.some(({ call }) => call === id)
}

/** What a person sees: all that is whole on the live branch of the log, the healthy one where it is known, each call with its end. Where the log is lost, so is that. */
export function shownFaults(shown, before, after, healthy) {
  // A copy of a record need not be shown twice; one without an envelope, as the first releases wrote it, the client never shows.
  const whole = new Map(recordsIn(before, LOG).filter(({ params }) => params !== undefined).map(record => [JSON.stringify(updateOf(record)) + (record.params ?? record)._meta?.eventId, updateOf(record)]))
  const there = new Set([...whole.values()].map(update => JSON.stringify(update)))
  const live = healthy === undefined ? liveOf([...whole.values()]) : liveOf(recordsIn(healthy, LOG).map(updateOf)).filter(update => there.has(JSON.stringify(update)))
  const faults = missingFaults(live.flatMap(seen), shown.flatMap(seen))
  const ends = new Map(shown.flatMap(({ toolCallId: id, status }) => id === undefined || status === undefined ? [] : [[id, status]]))
  const cancelled = cancelledCalls(after)
  const calls = new Set([...live.flatMap(({ sessionUpdate: kind, toolCallId: id }) => kind === 'tool_call' ? id : []), ...live.length > 0 ? lastCalls(before) : []])
  for (const id of calls) if (!cancelled.has(id) && ends.get(id) !== 'completed' && ends.get(id) !== 'failed') faults.push(`call ${id} is shown as ${ends.get(id) ?? 'nothing'}`)
  return faults.map(fault => `shown: ${fault}`)
}

function seen({ sessionUpdate: kind, content }) {
  if (!['user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk'].includes(kind) || typeof content?.text !== 'string') return []
  return [{ role: kind, text: content.text }]
}

/** The calls of the last answer, where no prompt follows it. */
function lastCalls(files) {
  const records = recordsIn(files, HISTORY)
  const last = records.findLastIndex(({ type, synthetic_reason: reason }) => type === 'assistant' || (type === 'user' && reason === undefined))
  return (records[last]?.tool_calls ?? []).map(({ id }) => id)
}

/** A person who stops a turn leaves its calls without an end. The client shows none of them, and that is lawful. */
function cancelledCalls(files) {
  const calls = new Set()
  let turn = []
  for (const { sessionUpdate: kind, toolCallId: id, stop_reason: reason } of recordsIn(files, LOG).map(updateOf)) {
    if (kind === 'user_message_chunk') turn = []
    if (kind === 'tool_call') turn.push(id)
    if (kind === 'turn_completed' && reason === 'cancelled') turn.forEach(call => calls.add(call))
  }
  for (const { type, tool_call_id: id, content } of recordsIn(files, HISTORY)) if (type === 'tool_result' && HALTED.test(content)) calls.add(id)
  return calls
}

const HALTED = /^(Tool execution was halted by the harness|Tool execution cancelled due to earlier permission rejection)/

/** On loading the client tells that nothing runs, and ends sub-agents that ran. It has no cause to do anything else. */
export function touchedFaults(after, loaded, asked) {
  const faults = []
  const was = after.get(HISTORY) ?? Buffer.alloc(0)
  if (!sameItems(was, loaded.get(HISTORY) ?? Buffer.alloc(0))) faults.push('the client rewrote the history when it loaded it')
  else if (!startsWith(asked.get(HISTORY), loaded.get(HISTORY))) faults.push('the client rewrote the history at the prompt')
  for (const name of asked.keys()) if (/\.corrupt$/.test(name) && !after.has(name)) faults.push(`the client made ${name}`)
  const log = after.get(LOG) ?? Buffer.alloc(0)
  if (!startsWith(loaded.get(LOG), log)) return [...faults, 'the client rewrote the log']
  const added = recordsIn(new Map([[LOG, loaded.get(LOG).subarray(log.length)]]), LOG).map(updateOf)
  if (loaded.get(LOG)[log.length] === 10) faults.push('the client had to end the last line of the log')
  const running = runningChildren(recordsIn(after, LOG).map(updateOf))
  let tasks = 0
  for (const { sessionUpdate: kind, subagent_id: child } of added) {
    if (kind === 'background_tasks' && (tasks += 1) === 1) continue
    if (kind === 'subagent_finished' && running.delete(child)) continue
    faults.push(`the client added to the log: ${kind}`)
  }
  return faults
}

function runningChildren(updates) {
  const running = new Set()
  for (const { sessionUpdate: kind, subagent_id: child } of updates) {
    if (kind === 'subagent_spawned') running.add(child)
    if (kind === 'subagent_finished') running.delete(child)
  }
  return running
}

/** Blank lines go, what is blank at the end of a line goes, in front stands the system prompt of today, and the first form is brought up to date. */
const sameItems = (before, after) => before.equals(after) || wordsOf(before) === wordsOf(after) || (hasFirstForm(before) && saidIn(before) === saidIn(after))
const valuesIn = bytes => recordsIn(new Map([[HISTORY, bytes]]), HISTORY)
const hasFirstForm = bytes => valuesIn(bytes).some(({ type }) => type === undefined)
const saidIn = bytes => JSON.stringify(valuesIn(bytes).flatMap(itemsOf))
const wordsOf = bytes => bytes.toString().split('\n').map(line => line.trim()).filter((line, n) => line !== '' && !(n === 0 && line.startsWith('{"type":"system"'))).join('\n')
const startsWith = (bytes, head) => bytes !== undefined && bytes.subarray(0, head.length).equals(head)

const nameOf = ({ call, result, role, text }) => short(call !== undefined ? `call ${call}` : result !== undefined ? `result ${result}` : `${role}: ${text}`)
const short = text => text.length > 110 ? `${text.slice(0, 107)}...` : text.replaceAll('\n', ' ')
