// One log: sessfix mends it, then the real library opens it and goes on with it.
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isPutOff, linesOf, resultsIn } from './logs.mjs'
import { opened } from './open.mjs'
import { run } from './processes.mjs'

const CLOSER = /TOOL_OUTCOME_UNKNOWN|TOOL_NOT_STARTED/

/** A home of its own; nothing of the caller's. */
export async function homeIn(folder) {
  const home = join(folder, 'home')
  await mkdir(join(home, 'tmp'), { recursive: true })
  return { PATH: process.env.PATH, HOME: home, TMPDIR: join(home, 'tmp'), LANG: 'C.UTF-8', TZ: 'UTC', NO_COLOR: '1' }
}

/** { outcome: 'clean' | 'repaired' | 'refused' | 'failed', faults }. */
export async function runTrial(binary, source, folder, env) {
  const own = await homeIn(folder)
  const file = join(own.HOME, '.pi', 'agent', 'sessions', '--home-user-harbour--', '2026-04-01T09-30-00-000Z_019d0b00-1111-7222-8333-000000000001.jsonl')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, source.bytes)
  const { outcome, faults } = await repair(binary, file, own)
  if (outcome === 'failed') return { outcome, faults }
  if (source.verdict !== undefined && source.verdict !== outcome) faults.push(`${outcome}, and ${source.verdict} is right`)
  if (outcome === 'refused') {
    // A cut at the end is what a kill leaves: there is always a way to mend it.
    if (source.began !== undefined && (source.healthy !== undefined || /bytes(, torn)?$|^killed/.test(source.name))) faults.push('refused, and there is a safe repair')
  } else faults.push(...await clientFaults(source, file, folder, env))
  return { outcome: faults.length > 0 ? 'failed' : outcome, faults }
}

async function repair(binary, file, env) {
  const faults = []
  const aDayAgo = Math.floor(Date.now() / 1000) - 86_400
  await utimes(file, aDayAgo, aDayAgo)
  const before = await readFile(file)
  const names = async () => (await readdir(dirname(file))).join('\n')
  const beside = await names()
  const call = command => run(binary, [command, '--json', file], { env, cwd: env.HOME })
  const unchanged = async (bytes, what) => {
    if (!(await readFile(file)).equals(bytes)) faults.push(`${what} changed the file`)
  }
  const verify = await call('verify')
  await unchanged(before, 'verify')
  const mend = await call('repair')
  const bytes = await readFile(file)
  const outcome = { 0: 'clean', 1: 'repaired', 3: 'refused' }[verify.status]
  if (outcome === undefined || mend.status !== (outcome === 'refused' ? 3 : 0)) return { outcome: 'failed', faults: [...faults, `verify ends with ${verify.status}, repair with ${mend.status}: ${mend.err.slice(0, 200)}`] }
  if (outcome !== 'repaired') await unchanged(before, `repair of what is ${outcome}`)
  else if (bytes.equals(before)) faults.push('verify found damage, and repair changed nothing')
  if (await names() !== beside) faults.push('repair left something beside the session')
  if (outcome !== 'repaired') return { outcome, faults }
  const second = await call('repair')
  if (second.status !== 0) faults.push(`a second repair ends with ${second.status}`)
  await unchanged(bytes, 'a second repair')
  const last = await call('verify')
  if (last.status !== 0) faults.push(`verify ends with ${last.status} behind the repair`)
  return { outcome, faults }
}

async function clientFaults(source, file, folder, env) {
  const after = await readFile(file)
  const heard = await opened(file, env)
  if (!heard.listed) return [`not listed ${heard.error ?? ''}`]
  if (heard.error !== undefined) return [`does not open: ${heard.error}`]
  const faults = []
  if (heard.rewrote) faults.push('the client writes the file when it opens it')
  const putOff = isPutOff(after)
  if (heard.open.length > 0 && !putOff) faults.push(`still open: ${heard.open}`)
  faults.push(...lostEntries(await entriesBefore(source, folder, env), heard.entries))
  for (const [name, lane] of Object.entries(heard.lanes)) if (!putOff) faults.push(...laneFaults(lane, source).map(fault => `${name}: ${fault}`))
  if (heard.ran.length > 0 && !putOff) faults.push(`the client ran ${heard.ran}`)
  return faults
}

/** Of a healthy log, or of the whole lines, what the client held: as far as it opens them. */
async function entriesBefore({ bytes, healthy }, folder, env) {
  const lines = linesOf(bytes)
  const end = lines.findIndex(({ writes }) => writes === undefined)
  const whole = healthy ?? bytes.subarray(0, end < 0 ? bytes.length : lines[end].at)
  if (whole.length === 0) return []
  const file = join(folder, 'before.jsonl')
  await writeFile(file, whole)
  return (await opened(file, env)).entries ?? []
}

/** What stood in front must still do, in its order. */
export function lostEntries(before, after) {
  const places = before.map(entry => after.indexOf(entry))
  const lost = before.filter((entry, n) => places[n] < 0)
  if (lost.length > 0) return lost.map(entry => `an entry is lost: ${entry.slice(0, 120)}`)
  return places.some((place, n) => place < places[n - 1]) ? ['entries have changed places'] : []
}

function laneFaults({ askedByResume, ranByResume, prompt, sent }, { bytes, healthy, began }) {
  const faults = []
  if (askedByResume > 0) faults.push('resuming asked the model')
  if (ranByResume > 0) faults.push('resuming ran a tool')
  if (prompt !== 'completed') return [...faults, `a prompt ends as ${prompt}`]
  if (sent.length !== 1) return [...faults, `${sent.length} requests instead of one`]
  return [...faults, ...sentFaults(sent[0], resultsIn(healthy ?? bytes), began && new Set(began))]
}

/** One result right behind each call; the tool's own where the log has it; and none that denies what ran. */
export function sentFaults(messages, known, began) {
  const faults = []
  let open = new Set()
  const close = () => {
    for (const id of open) faults.push(`call ${id} has no result`)
    open = new Set()
  }
  for (const { role, id, calls, text, stopReason } of messages) {
    if (role !== 'toolResult') {
      close()
      if (stopReason !== 'error' && stopReason !== 'aborted') open = new Set(calls)
      continue
    }
    if (!open.delete(id)) faults.push(`result ${id} has no call in front of it, or is the second`)
    if (known.has(id) && text !== known.get(id)) faults.push(`the result of ${id} is on record, and the model reads: ${text.slice(0, 80)}`)
    if (!known.has(id) && !CLOSER.test(text)) faults.push(`nothing is on record of ${id}, and the model reads: ${text.slice(0, 80)}`)
    if (!known.has(id) && began?.has(id) && text.includes('TOOL_NOT_STARTED')) faults.push(`call ${id} had begun, and is said not to have`)
  }
  close()
  return faults
}
