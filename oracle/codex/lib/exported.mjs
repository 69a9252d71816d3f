// What an export says of a thread, held against what the client sends.
import { isAside } from './history.mjs'
import { short } from './items.mjs'
import { run } from './processes.mjs'
import { talkIn, talkOf } from './talk.mjs'

/** { status, err, messages } */
export async function exported(binary, path, { home, codex }, folder, provider = 'openai') {
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: codex, TMPDIR: folder, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const { status, out, err } = await run(binary, ['export', '--format', 'messages', '--provider', provider, path], { env, cwd: home })
  try {
    return { status, err: err.slice(0, 300), messages: JSON.parse(out) }
  } catch {
    return { status, err: err.slice(0, 300), messages: undefined }
  }
}

/** What the client and an export answer a call with that has no result. */
const UNKNOWN = /^(aborted$|\[\]$|TOOL_OUTCOME_UNKNOWN|No result of this call is recorded)/

/**
 * Faults: all that the export says the client sends, in its order, the instructions first; what the client sends beyond that it adds by
 * itself. `items` are those of the request.
 */
export function differences(messages, items, prompt) {
  const said = talkIn(messages)
  const sent = talkOf(items)
  const added = new Set(talkOf(items.filter(isAside)).map(entry => entry.said)).add(`user: ${prompt}`)
  const faults = []
  let at = 0
  for (const entry of said) {
    while (at < sent.length && sent[at].said !== entry.said && added.has(sent[at].said)) at += 1
    if (at === sent.length || sent[at].said !== entry.said) {
      return [...faults, `the export says ${short(entry.said)}, and the client sends ${short(sent[at]?.said ?? 'no more')}`]
    }
    const [told, given] = [entry.result, sent[at].result]
    if (told !== given && !(UNKNOWN.test(told) && UNKNOWN.test(given))) faults.push(`${short(entry.said)} gave ${short(String(told))}, and for the client ${short(String(given))}`)
    at += 1
  }
  return [...faults, ...sent.slice(at).filter(entry => !added.has(entry.said)).map(entry => `the export does not say ${short(entry.said)}`)]
}
