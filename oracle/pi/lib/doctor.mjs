// OpenClaw keeps pi's sessions too, and brings old ones into its database: does its real doctor take all of what was repaired?
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { environment, placeIn } from './client.mjs'
import { run } from './processes.mjs'
import { linesOf, withHeader } from './records.mjs'

export const doctorIn = folder => folder === undefined ? undefined : [join(folder, 'node_modules', 'openclaw', 'openclaw.mjs')].find(existsSync)

/** Faults of sessions [{ name, bytes }], all put into one store of the old kind, each with an id of its own. */
export async function doctorFaults(program, sessions, folder) {
  const place = await placeIn(folder)
  const agent = join(place.home, '.openclaw', 'agents', 'main')
  const store = join(agent, 'sessions')
  await mkdir(store, { recursive: true })
  const ids = sessions.map((_, n) => `019d0c00-0000-7000-8000-${String(n + 1).padStart(12, '0')}`)
  const index = {}
  for (const [n, { bytes }] of sessions.entries()) {
    await writeFile(join(store, `${ids[n]}.jsonl`), withHeader(bytes, { id: ids[n] }))
    index[n === 0 ? 'agent:main:main' : `agent:main:oracle:channel:c${n}`] = { sessionId: ids[n], updatedAt: Date.now() - n * 1000, sessionFile: `${ids[n]}.jsonl`, chatType: n === 0 ? 'direct' : 'channel' }
  }
  await writeFile(join(store, 'sessions.json'), JSON.stringify(index))
  const args = [program, 'doctor', '--session-sqlite', 'import', '--session-sqlite-all-agents', '--json', '--non-interactive']
  const { status, out, err } = await run(process.execPath, args, { env: environment(place), cwd: place.home, seconds: 240 })
  const report = reportIn(out)
  const database = join(agent, 'agent', 'openclaw-agent.sqlite')
  if (report === undefined || !existsSync(database)) return [`the doctor ends with ${status}, and brings nothing in: ${err.slice(0, 300)}`]
  const rows = new DatabaseSync(database, { readOnly: true })
  const counts = new Map(rows.prepare('select session_id, count(*) n from transcript_events group by session_id').all().map(row => [row.session_id, row.n]))
  rows.close()
  const issues = report.targets.flatMap(target => target.issues ?? []).filter(({ code }) => code === 'transcript_malformed' || code === 'sqlite_transcript_count_mismatch')
  return sessions.flatMap(({ name, bytes }, n) => {
    const own = issues.filter(issue => index[issue.sessionKey]?.sessionId === ids[n] || JSON.stringify(issue).includes(ids[n])).map(({ code }) => `the doctor says ${code}`)
    const [want, got] = [eventsIn(withHeader(bytes, { id: ids[n] })), counts.get(ids[n]) ?? 0]
    return [...own, ...got === want ? [] : [`the doctor brings ${got} of ${want} records in`]].map(fault => `${name}: ${fault}`)
  })
}

function reportIn(out) {
  try {
    return JSON.parse(out.slice(out.indexOf('{')))
  } catch {
    return undefined
  }
}

/** Of lines that are the same one copy is kept. */
const eventsIn = bytes => new Set(linesOf(bytes).map(({ at, length }) => bytes.subarray(at, at + length).toString().trim())).size
