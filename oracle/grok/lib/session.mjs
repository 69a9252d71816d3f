// What the files of a session say: the items of its history, the updates of its log, and which of these are on the live branch.
import { recordsOf } from './lines.mjs'

export const HISTORY = 'chat_history.jsonl'
export const LOG = 'updates.jsonl'
export const SUMMARY = 'summary.json'

/** The client's own words for a call that it finds open. */
export const DENIED = /^Tool execution was cancelled by the user \(tool `.*` was not executed\)\.$/
export const CLOSER = /^TOOL_(OUTCOME_UNKNOWN|NOT_STARTED)/

/** What an update says; the envelope came later. */
export const updateOf = value => (value.params ?? value).update ?? {}

/** [{ call } | { result, text } | { role, text }], without what the client writes anew at each start. */
export function itemsOf(record) {
  const { type = record.role, content } = record
  if (type === 'tool_result' || type === 'tool') return [{ result: record.tool_call_id, text: textOf(content) }]
  if (type !== 'user' && type !== 'assistant') return []
  const calls = (record.tool_calls ?? []).map(({ id }) => ({ call: id }))
  const text = textOf(content)
  return [...text === '' ? [] : [{ role: type, text }], ...calls]
}

function textOf(content) {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(part => part.text ?? '').join('') : ''
}

/** A turn opens at a run of prompts. From the first number on only runs with a number count. */
export function liveOf(all) {
  const updates = withRewinds(all)
  const turns = []
  let live = []
  let run
  let numbered = false
  for (const update of updates) {
    const { sessionUpdate: kind, target_prompt_index: target, _meta: { promptIndex, hostTurn } = {} } = update
    if (kind === 'rewind_marker') {
      if (target < turns.length) live = live.slice(0, turns.splice(target)[0])
      run = undefined
      continue
    }
    if (kind !== 'user_message_chunk' || hostTurn) run = undefined
    else {
      numbered ||= promptIndex !== undefined
      const opens = numbered ? promptIndex !== undefined && run !== promptIndex : run === undefined
      if (opens) turns.push(live.length)
      run = promptIndex ?? 'unnumbered'
    }
    live.push(update)
  }
  return live
}

/** A prompt that bears the number of an earlier one says that a rewind stood in front of it, also where its line is torn. */
function withRewinds(updates) {
  const numbers = []
  return updates.flatMap((update, n) => {
    const { sessionUpdate: kind, target_prompt_index: target, _meta: { promptIndex } = {} } = update
    if (kind === 'rewind_marker' && target < numbers.length) numbers.length = target
    if (kind !== 'user_message_chunk' || promptIndex === undefined || updates[n - 1]?._meta?.promptIndex === promptIndex) return [update]
    const again = promptIndex < numbers.length
    if (again) numbers.length = promptIndex
    numbers.push(promptIndex)
    return again ? [{ sessionUpdate: 'rewind_marker', target_prompt_index: promptIndex }, update] : [update]
  })
}

/** Call -> the texts of its results on record, wherever they stand. What sessfix or the client made up is none. */
export function resultsIn(files) {
  const results = new Map()
  const add = (id, ...texts) => {
    const real = texts.filter(text => !CLOSER.test(text) && !DENIED.test(text))
    if (real.length > 0) results.set(id, [...results.get(id) ?? [], ...real])
  }
  for (const record of recordsIn(files, HISTORY)) for (const { result, text } of itemsOf(record)) if (result !== undefined) add(result, text)
  for (const { toolCallId: id, status, content = [], rawOutput } of recordsIn(files, LOG).map(updateOf)) {
    if (status !== 'completed' && status !== 'failed') continue
    const shown = content.map(({ content: block }) => block?.text ?? '').join('')
    add(id, ...typeof rawOutput?.output_for_prompt === 'string' ? [rawOutput.output_for_prompt, shown] : [shown])
  }
  return results
}

export const recordsIn = (files, name) => recordsOf(files.get(name) ?? Buffer.alloc(0)).map(({ value }) => value)

/** Calls that some record asks for, in the history or on the log. */
export function callsIn(files) {
  const asked = recordsIn(files, HISTORY).flatMap(itemsOf).flatMap(({ call }) => call ?? [])
  return new Set([...asked, ...recordsIn(files, LOG).map(updateOf).flatMap(({ sessionUpdate: kind, toolCallId: id }) => kind === 'tool_call' ? id : [])])
}

/** The id that the session goes by. */
export function idOfSession(files) {
  try {
    const { id } = JSON.parse(files.get(SUMMARY).toString()).info
    if (typeof id === 'string' && id !== '') return id
  } catch {
    // The log names it as well.
  }
  for (const name of [LOG, HISTORY]) for (const { params } of recordsIn(files, name)) if (typeof params?.sessionId === 'string') return params.sessionId
  return '019a0000-0000-7000-8000-0000000000ff'
}
