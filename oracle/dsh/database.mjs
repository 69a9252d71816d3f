// node --experimental-transform-types database.mjs BINARY --source CHECKOUT [--jobs N] [--every N] [--only WORD]: sessions that the
// real store keeps in a database, whole and damaged, are verified, mended and put back by BINARY, and each is held against what the real store makes
// of it. CHECKOUT is the client's sources at tag dsh-v0.1.1-rc.2.
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, utimes } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { parseArgs } from 'node:util'
import { interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import { windClock } from './lib/client.mjs'
import { CWD, STOPS, branch, halfCompacted, helper, oneMore, orchard, stopped, tiny } from './lib/scenes.mjs'
import { loadBackend, openDatabase } from './lib/store.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { source: { type: 'string' }, jobs: { type: 'string', default: '1' }, every: { type: 'string', default: '1' }, only: { type: 'string', default: '' } },
})
if (positionals.length !== 1) {
  console.error('usage: node --experimental-transform-types database.mjs BINARY --source CHECKOUT [--jobs N] [--every N] [--only WORD]')
  process.exit(2)
}
if (values.source === undefined || !existsSync(values.source)) {
  console.log('SKIPPED: no checkout of the client\'s sources')
  process.exit(0)
}
process.on('unhandledRejection', error => console.error(`behind a verdict: ${error?.message}`))
const binary = resolve(positionals[0])
const [jobs, every] = [values.jobs, values.every].map(Number)
const backend = await loadBackend(values.source)
const scratch = await mkdtemp(join(tmpdir(), 'sessfix-database-'))
await chmod(scratch, 0o700)
const wall = Date.now() / 1000

let passed = 0
let failed = 0
const tally = {}
try {
  const made = { wal: await write('wal'), delete: await write('delete') }
  const trials = (await plan(made)).filter(({ name }) => name.includes(values.only)).filter((_, n) => n % every === 0)
  let next = 0
  await Promise.all(Array.from({ length: jobs }, async () => {
    while (next < trials.length) {
      const n = next++
      const faults = await trial(trials[n], join(scratch, String(n))).catch(error => [`${error.stack}`])
      for (const text of faults) console.log(`FAIL ${trials[n].name}: ${text}`)
      if (faults.length > 0) failed += 1
      else passed += 1
    }
  }))
} finally {
  await rm(scratch, { recursive: true, force: true })
}
console.log(Object.entries(tally).map(([what, count]) => `${count} ${what}`).join(', '))
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)

/** All scenes in one database. With a log of writes it is left as a crash leaves it: nothing is in the database proper yet. */
async function write(mode) {
  windClock()
  const path = join(scratch, `${mode}.db`)
  const host = await openDatabase(backend, path, mode)
  const ids = []
  const make = async (id, scene, meta = { cwd: CWD }) => {
    const session = host.sessions.create(id, { meta })
    await scene(session, () => host.save(session))
    await host.save(session)
    ids.push(id)
    return session
  }
  await make('tiny', tiny)
  await make('no folder/é', tiny, {})
  const parent = await make('orchard', orchard)
  const child = host.sessions.fork(parent, parent.events.findLast(event => event.type === 'turn/end').seq, 'orchard-fork')
  await branch(child)
  await host.save(child)
  ids.push('orchard-fork')
  await make('orchard-helper', helper, { cwd: CWD, parentSession: 'orchard', origin: 'subagent', delegationDepth: 1 })
  await make('long', async (session, save) => {
    await tiny(session)
    session.append('user/message', { id: 'm-long', role: 'user', content: [{ type: 'text', text: 'tree '.repeat(4000) }], source: { kind: 'user' } }, { surfaceOp: 'append' })
    await save()
  })
  for (const stop of Object.keys(STOPS)) await make(`stop-${stop}`, (session, save) => stopped(session, stop, save))
  await make('stop-compaction', halfCompacted)
  if (mode === 'wal') {
    for (const suffix of ['', '-wal']) await copyFile(path + suffix, join(scratch, `crashed.db${suffix}`))
  }
  await host.close()
  return { path: mode === 'wal' ? join(scratch, 'crashed.db') : path, ids }
}

/** { name, path, id, damage: [SQL], expect } */
async function plan(made) {
  const out = []
  for (const [mode, { path, ids }] of Object.entries(made)) {
    for (const id of ids) out.push({ name: `${id}, ${mode}`, path, id, damage: [] })
  }
  const { path, ids } = made.delete
  const db = new DatabaseSync(path, { readOnly: true })
  for (const id of ids) {
    const rows = db.prepare('select seq, type, ignorable from events where session_id = ? order by seq').all(id)
    const at = `session_id = '${id}' and seq =`
    for (const { seq, type, ignorable } of rows) {
      const last = seq === rows.at(-1).seq
      const add = (what, ...damage) => out.push({ name: `${id}, row ${seq} ${type} ${what}`, path, id, damage, type })
      if (!last && seq % 5 !== 0) continue
      add('gone', `delete from events where ${at} ${seq}`)
      add('torn', `update events set data = substr(cast(data as text), 1, length(data) - 1) where ${at} ${seq}`)
      add('a number', `update events set data = 5 where ${at} ${seq}`)
      add('blob that is none', `update events set data = x'28b52ffd00' where ${at} ${seq}`)
      add('surface_op that is none', `update events set surface_op = 'append' where ${at} ${seq}`)
      add('list that is none', `update events set source_event_seqs = x'ff' where ${at} ${seq}`)
      if (ignorable === 0) add('marker lost', `update events set ignorable = null where ${at} ${seq}`)
      else add('marked as packed', `update events set ignorable = 0 where ${at} ${seq}`)
    }
  }
  db.close()
  for (const [what, sql] of Object.entries({
    'an index': 'create index i on events (time)', 'a view': 'create view v as select 1', 'schema 16': 'pragma user_version = 16',
    'no UUID': `update persistence_state set store_id = 'x'`, 'statistics': 'analyze', 'a version': `update sessions set version = 4 where id = 'tiny'`,
    'another incarnation': `update sessions set incarnation = 'x' where id = 'tiny'`, 'a created time': `update sessions set created_at = -1 where id = 'tiny'`,
    'a folder': `update sessions set cwd = 'w' where id = 'tiny'`, 'the row of the session gone': `pragma foreign_keys = off; delete from sessions where id = 'tiny'`,
  })) out.push({ name: `tiny, ${what}`, path, id: 'tiny', damage: [sql], whole: true })
  return out
}

async function trial({ name, path, id, damage, type }, folder) {
  const faults = []
  await mkdir(folder, { mode: 0o700 })
  const put = async (file) => {
    const to = join(folder, file)
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) await copyFile(path + suffix, to + suffix)
    await chmod(to, 0o600)
    if (damage.length > 0) {
      const db = new DatabaseSync(to)
      for (const sql of damage) db.exec(sql)
      db.close()
    }
    return to
  }
  const before = await judge(await put('theirs.db'), id)
  const ours = await put('ours.db')
  const old = rows(await put('old.db'))
  const bytes = await readFile(ours)
  const run = async (command, ...more) => {
    for (const suffix of ['', '-wal']) if (existsSync(ours + suffix)) await utimes(ours + suffix, wall - 86_400, wall - 86_400)
    return sessfix(command, folder, ...more)
  }
  const named = `${ours}#${id}`
  const verified = await run('verify', named)
  if (!(await readFile(ours)).equals(bytes)) faults.push('verify changed the database')
  const repaired = await run('repair', named)
  const did = repaired === 0 ? verified === 0 ? 'clean' : 'repaired' : repaired === 3 ? 'refused' : 'not read'
  tally[did] = (tally[did] ?? 0) + 1
  if (verified !== { clean: 0, repaired: 1, refused: 3, 'not read': 2 }[did]) faults.push(`verify ends with ${verified}, repair with ${repaired}`)
  if (did === 'refused' || did === 'not read') {
    if (!(await readFile(ours)).equals(bytes)) faults.push(`${did}, and the database changed`)
    if (before.loads && before.lost === 0 && type !== 'tool/call') faults.push(`${did}, and the client loads all of it`)
    return faults
  }
  const changed = !(await readFile(ours)).equals(bytes)
  const between = rows(ours)
  const after = await judge(await copyAll(ours, join(folder, 'judged.db')), id, true)
  if (!after.loads) return [...faults, `${did}, and the client does not load it: ${after.error}`]
  if (after.closers.length > 0 || after.lost > 0) faults.push(`${did}, and the client still mends it`)
  if (after.error !== null) faults.push(`the client does not go on: ${after.error}`)
  if (did === 'clean') {
    if (changed) faults.push('repair changed a clean session')
    if (before.closers.length > 0 || before.lost > 0) faults.push('called clean, and the client mends it')
  } else {
    const theirs = before.events
    const kept = new Set(between.map(row => JSON.stringify(row)))
    const gone = old.filter(row => row.session_id === id && !kept.has(JSON.stringify(row)))
    if (gone.length > damage.length) faults.push(`rows are gone that nothing was wrong with: ${gone.map(row => row.seq)}`)
    if (theirs === undefined) tally['mended where the client refuses'] = (tally['mended where the client refuses'] ?? 0) + 1
    else if (theirs.length !== after.events.length || theirs.some((event, n) => !same(event, after.events[n]))) faults.push(`the client makes something else of it: ${theirs.length} and ${after.events.length} events`)
    const others = list => JSON.stringify(list.filter(row => row.session_id !== id && row.id !== id))
    if (others(old) !== others(between)) faults.push('rows of other sessions changed')
    const revision = list => list.find(row => row.id === id).revision
    if (revision(between) !== revision(old) + 1) faults.push(`revision ${revision(old)} became ${revision(between)}`)
    if (await run('repair', named) !== 0 || JSON.stringify(rows(ours)) !== JSON.stringify(between)) faults.push('a second repair changed something')
    if (await run('undo', named) !== 0) faults.push('undo failed')
    const bare = list => JSON.stringify(list.map(row => ({ ...row, revision: undefined })))
    if (bare(rows(ours)) !== bare(old)) faults.push('undo did not bring the rows back')
    if (await run('repair', '--output', join(folder, 'out'), named) !== 0) faults.push('repair --output failed')
    else {
      const out = await judge(join(folder, 'out', `ours.db#${id}`), id, true)
      if (!out.loads || out.closers.length > 0 || !isDeepStrictEqual(out.events, after.events)) faults.push(`the client makes something else of the database of its own: ${out.error}`)
    }
  }
  return faults
}

/** Events are equal, but for the words of a result that is not known, and the clock. */
function same(theirs, ours) {
  if (isDeepStrictEqual(theirs, ours)) return true
  if (theirs.data?.error?.code !== 'TOOL_OUTCOME_UNKNOWN') return false
  const bare = (event) => {
    const out = structuredClone(event)
    out.data.message.content[0].content[0].text = ''
    return out
  }
  return isDeepStrictEqual(bare(theirs), bare(ours))
}

/** What the real store says of a session and does with it. With `on` it also goes on with it. */
async function judge(path, id, on = false) {
  const out = { loads: false, error: null, closers: [], lost: 0 }
  windClock()
  let host
  try {
    const stored = rowsOf(path, id)
    host = await openDatabase(backend, path, 'delete')
    await host.disk.list()
    const read = await host.disk.readFrom(id, 0)
    out.closers = interruptedTurnClosers(read.events)
    const loaded = await host.disk.load(id)
    out.events = JSON.parse(JSON.stringify(loaded.events))
    out.loads = true
    const kept = new Set(rowsOf(path, id))
    out.lost = stored.filter(row => !kept.has(row)).length
    if (on) {
      const session = await host.resume(id)
      await oneMore(session, loaded.events.filter(event => event.type === 'turn/start').length + 1)
      await host.save(session)
      const again = await host.disk.load(id)
      if (again.events.length !== session.events.length) out.error = 'its next turn was not stored'
    }
  } catch (error) {
    out.error = error.message
  } finally {
    await host?.close().catch(() => {})
  }
  return out
}

function rowsOf(path, id) {
  const db = new DatabaseSync(path)
  try {
    return db.prepare('select * from events where session_id = ?').all(id).map(row => JSON.stringify(row))
  } finally {
    db.close()
  }
}

/** All rows of a copy of a database. */
function rows(path) {
  const db = new DatabaseSync(path)
  try {
    return [...db.prepare('select * from sessions order by id').all(), ...db.prepare('select session_id, seq, type, time, hex(data) d, typeof(data) k, hex(source_event_seqs) s, typeof(source_event_seqs) sk, surface_op, ignorable from events order by 1, 2').all()]
  } finally {
    db.close()
  }
}

async function copyAll(from, to) {
  for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) await copyFile(from + suffix, to + suffix)
  await chmod(to, 0o600)
  return to
}

function sessfix(command, home, ...args) {
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' }
  return new Promise((done) => {
    execFile(binary, [command, ...args], { env, cwd: home, timeout: 60_000 }, (error) => done(error === null ? 0 : error.code ?? error.signal))
  })
}
