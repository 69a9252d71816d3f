// node fork.mjs BINARY [--jobs N] [--every N] [--only WORD] [--also PATH…]: BINARY branches every healthy session at every
// record, and each branch is held against the real library's own. --every takes one record of N, and those at the edges of
// turns; --only takes the sessions with WORD in their name; --also adds your own logs and folders of logs.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { cp, copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openHost, windClock } from './lib/client.mjs'
import { readLog } from './lib/later.mjs'
import { encodingOf, logName, logPath, projectFolder, sessionFolder } from './lib/place.mjs'
import { same, textOf } from './lib/records.mjs'
import { writeSessions } from './lib/sessions.mjs'
import { firstLine } from './lib/trial.mjs'
import { judge } from './lib/verdict.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' }, every: { type: 'string', default: '1' }, only: { type: 'string', default: '' },
    also: { type: 'string', multiple: true, default: [] },
  },
})
const [given, ...rest] = positionals
if (given === undefined || (rest.length > 0 && values.also.length === 0)) {
  console.error('usage: node fork.mjs BINARY [--jobs N] [--every N] [--only WORD] [--also PATH…]')
  process.exit(2)
}
const binary = resolve(given)
const [jobs, every] = [values.jobs, values.every].map(Number)
if (!(jobs >= 1 && every >= 1)) {
  console.error('--jobs and --every take a number from 1')
  process.exit(2)
}
process.on('unhandledRejection', error => console.error(`behind a branch: ${error?.message}`))

const KID = 'kid'
const REFUSED = 3
const scratch = await mkdtemp(join(tmpdir(), 'sessfix-fork-'))
const tally = { legal: 0, refused: 0, 'refused by sessfix alone': 0, closed: 0 }
let passed = 0
let failed = 0
try {
  const logs = await sessions()
  let next = 0
  await Promise.all(Array.from({ length: jobs }, async () => {
    while (next < logs.length) {
      const n = next++
      await trial(logs[n], join(scratch, 'homes', String(n)))
    }
  }))
} finally {
  await rm(scratch, { recursive: true, force: true })
}
console.log(Object.entries(tally).map(([what, count]) => `${count} ${what}`).join(', '))
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)

/** Our own sessions that are whole, and the caller's. */
async function sessions() {
  const made = join(scratch, 'made')
  const out = (await writeSessions(made)).map(item => ({ name: item.name, file: join(made, item.file) }))
  for (const path of [...values.also, ...rest]) {
    const files = (await stat(path)).isDirectory() ? (await readdir(path)).sort().map(name => join(path, name)) : [path]
    for (const file of files.filter(name => /\.jsonl(\.zstd)?$/.test(name))) out.push({ name: file, file: resolve(file) })
  }
  return out.filter(log => log.name.includes(values.only))
}

/** One session, branched everywhere. A log with damage in it is none of ours: repair comes first. */
async function trial(log, home) {
  const header = await firstLine(log.file)
  const encoding = encodingOf(log.file)
  if (header?.type !== 'session' || ![0, 2, 3].includes(header.version)) return
  const root = join(home, '.dsh', 'sessions')
  const file = logPath(root, { cwd: header.cwd, id: header.id, version: header.version, encoding })
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await copyFile(log.file, file)
  const before = { bytes: await readFile(file), state: await stat(file, { bigint: true }) }
  const parent = { header, encoding, file, root, home, name: log.name }
  try {
    parent.events = await eventsOf(parent, before.bytes)
  } catch {
    return // the real library does not read it
  }
  const real = header.version === 0 ? await realForks(parent) : undefined
  if (real === null) return
  const whole = await migrates(before.bytes, encoding)
  for (let seq = 0; seq < parent.events.length; seq += 1) {
    const atEdge = parent.events[seq].type.startsWith('turn/') || parent.events[seq].type.startsWith('compaction/')
    if (seq % every !== 0 && !atEdge && seq !== parent.events.length - 1) continue
    await note(parent, seq, await branchAt(parent, seq, real, whole))
  }
  await note(parent, 'all', await beside(parent))
  const after = { bytes: await readFile(file), state: await stat(file, { bigint: true }) }
  const still = before.bytes.equals(after.bytes) && before.state.mtimeNs === after.state.mtimeNs && before.state.ino === after.state.ino
  await note(parent, 'all', still ? [] : ['the parent changed'])
  await real?.close()
  await rm(home, { recursive: true, force: true })
}

async function note(parent, seq, faults) {
  if (faults.length === 0) passed += 1
  else failed += 1
  for (const fault of faults) console.log(`FAIL ${parent.name} at ${seq}: ${fault}`)
}

/** The events as the real library reads them, chunk by chunk. Throws where it would repair or refuse. */
async function eventsOf(parent, bytes) {
  const { verdict, inside } = await judge({ name: parent.name, file: parent.file, id: parent.header.id })
  if (!verdict.loads || verdict.repair.truncatedTo !== null || (verdict.strict && !verdict.strict.ok)) throw new Error('damaged')
  return parent.header.version === 0 ? inside.events.slice(0, inside.events.length - verdict.closers.length) : readLog(plain(bytes, parent.encoding), 'strict').events
}

function plain(bytes, encoding) {
  return Buffer.from(textOf(bytes, encoding).text, 'latin1').toString('utf8')
}

/** The real store with the parent alive in it, on a copy. */
async function realForks(parent) {
  const copy = join(parent.home, 'real')
  await cp(parent.root, copy, { recursive: true })
  windClock()
  const host = await openHost(copy, parent.encoding)
  try {
    const session = await host.resume(parent.header.id)
    return {
      fork: (seq, id) => host.sessions.fork(session, seq, id),
      close: () => host.close(),
    }
  } catch {
    await host.close()
    return null
  }
}

/** Does the published upgrade take it? */
function migrates(bytes, encoding) {
  try {
    readLog(plain(bytes, encoding), 'strict', 3)
    return true
  } catch {
    return false
  }
}

async function branchAt(parent, seq, real, whole) {
  const faults = []
  let wanted
  let no
  if (real) {
    try {
      wanted = real.fork(seq, `real-${seq}`)
    } catch (error) {
      no = error.code
    }
  } else if (inTurn(parent.events, seq)) no = 'OPEN_TURN'

  const out = join(parent.home, 'out', String(seq))
  const plainRun = await run(parent, ['--at', `seq:${seq}`, '--id', KID, '--output', out])
  const made = plainRun.child !== undefined
  const inside = plainRun.refusal?.startsWith('there is no seq') || plainRun.refusal?.includes('in the middle of a record')
  if (!made) {
    if (plainRun.exit !== REFUSED || !plainRun.refusal) faults.push(`exit ${plainRun.exit} without a reason: ${plainRun.stderr}`)
    if (await there(out)) faults.push('refused, and yet something was written')
  }
  if (made && no !== undefined) faults.push(`made, where the real library says ${no}`)
  if (!made && no === undefined) {
    if (plainRun.refusal?.startsWith('a compaction is open')) tally['refused by sessfix alone'] += 1
    else faults.push(`refused, where the real library makes one: ${plainRun.refusal}`)
  }
  if (made) {
    tally.legal += 1
    faults.push(...await compare(parent, seq, out, wanted, whole, true))
  } else {
    tally.refused += 1
    if (!inside) {
      const run2 = await run(parent, ['--at', `seq:${seq}`, '--close', '--id', KID, '--output', out])
      if (run2.child === undefined) faults.push(`--close: exit ${run2.exit}: ${run2.refusal ?? run2.stderr}`)
      else {
        tally.closed += 1
        faults.push(...await compare(parent, seq, out, undefined, whole, false))
      }
    } else if (no === undefined) faults.push('a place between turns in the middle of a record')
  }
  await rm(out, { recursive: true, force: true })
  return faults
}

/** The real library's own rule, for the versions without a published store. */
function inTurn(events, seq) {
  return events.slice(0, seq + 1).findLast(event => event.type === 'turn/start' || event.type === 'turn/end')?.type === 'turn/start'
}

/** Hold a branch against its parent, the real library's branch, and what the real library makes of it. */
async function compare(parent, seq, out, wanted, whole, legal) {
  const faults = []
  const { header, encoding } = parent
  const file = join(out, projectFolder(header.cwd), sessionFolder(KID), logName(header.version, encoding))
  const files = await readdir(out, { recursive: true, withFileTypes: true })
  const found = files.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  if (found.length !== 1 || found[0] !== file) return [`the files are ${found.map(name => relative(out, name))}, not ${relative(out, file)}`]
  const bytes = await readFile(file)
  const mine = JSON.parse(plain(bytes, encoding).split('\n', 1)[0])
  const want = {
    type: 'session', version: header.version, id: KID, createdAt: mine.createdAt, ...header.cwd === undefined ? {} : { cwd: header.cwd },
    parentSession: header.id, ...header.version === 0 ? { seedLength: seq + 1 } : { isSeeded: true }, delegationDepth: 0,
    ...header.agentPreset === undefined ? {} : { agentPreset: header.agentPreset },
  }
  if (!same(mine, want)) faults.push(`header ${JSON.stringify(mine)}, not ${JSON.stringify(want)}`)
  const text = plain(bytes, encoding).slice(plain(bytes, encoding).indexOf('\n') + 1)
  const from = plain(await readFile(parent.file), encoding)
  if (!text.startsWith(prefix(from.slice(from.indexOf('\n') + 1), seq))) faults.push('the inherited part is not the parent\'s, byte for byte')

  const { verdict, inside } = await judge({ name: `${parent.name} at ${seq}`, file, id: KID, root: header.version === 0 ? out : undefined })
  if (!verdict.loads) return [...faults, `the branch does not load: ${verdict.error}`]
  const events = unowned(inside.events)
  const behind = events.slice(seq + 1)
  if (!same(events.slice(0, seq + 1), unowned(parent.events.slice(0, seq + 1)))) faults.push('the inherited events differ')
  if (verdict.closers.length > 0) faults.push(`the client would close ${verdict.closers.length} things`)
  if (header.version === 0) {
    if (verdict.repair.truncatedTo !== null || verdict.repair.added.length > 0) faults.push(`the client repairs it: ${JSON.stringify(verdict.repair)}`)
    const grows = events.at(-1).type === 'session/end-seed' ? [] : ['session/end-seed']
    if (!same(verdict.resume, grows)) faults.push(`a resume adds ${verdict.resume}`)
  } else {
    if (!verdict.strict.ok) faults.push(`strict: ${verdict.strict.error}`)
    if (verdict.strict.inherited !== seq + 1) faults.push(`${verdict.strict.inherited} events are inherited, not ${seq + 1}`)
    if (inside.open.length > 0) faults.push(`open: ${inside.open}`)
    const mark = { type: 'session/end-seed', seq: seq + 1, time: events[seq].time, data: { inherited: true } }
    if (!same(behind[0], mark)) faults.push(`the mark is ${JSON.stringify(behind[0])}`)
  }
  if (wanted) {
    const real = { events: unowned(wanted.events), header: wanted.header, messages: wanted.deriveMessages() }
    const timeless = list => list.map((event, n) => n > seq ? { ...event, time: 0 } : event)
    if (!same(timeless(events), timeless(real.events))) faults.push(`${events.length} events, the real branch has ${real.events.length}, or they differ`)
    const { createdAt: _a, id: _b, agentPreset: _c, delegationDepth: _d, type: _e, ...ours } = mine
    const { createdAt: _f, id: _g, agentPreset: _h, delegationDepth: depth = 0, ...theirs } = real.header
    if (!same(ours, theirs) || depth !== mine.delegationDepth) faults.push(`header ${JSON.stringify(mine)}, the real one is ${JSON.stringify(real.header)}`)
    if (verdict.messages.length !== real.messages.length) faults.push('the model sees other messages')
  }
  if (legal && behind.length > 1) faults.push(`behind the inherited part stand ${behind.map(event => event.type)}`)
  if (whole && !migrates(bytes, encoding)) faults.push(`the published upgrade takes the parent and not the branch: ${why(bytes, encoding)}`)
  return faults
}

/** Events as JSON. Messages from before they had ids get one of the session's when they are read, here of either session. */
function unowned(events) {
  return JSON.parse(JSON.stringify(events).replace(/"(legacy-message:)[^"]*(:\d+)"/g, '"$1$2"'))
}

function why(bytes, encoding) {
  try {
    readLog(plain(bytes, encoding), 'strict', 3)
  } catch (error) {
    return error.message
  }
  return ''
}

/** The lines that hold the events up to seq. */
function prefix(text, seq) {
  let end = 0
  let count = 0
  while (count <= seq && end < text.length) {
    const next = text.indexOf('\n', end) + 1
    const row = JSON.parse(text.slice(end, next))
    count += row.seq === undefined ? (row.data.texts ?? row.data.args).length : 1
    end = next
  }
  return text.slice(0, end)
}

/** A branch in the parent's own root: both are clean, the branch is listed and resumes beside it, and a second of that name is refused. */
async function beside(parent) {
  const faults = []
  const made = await run(parent, ['--at', 'last', '--id', KID])
  if (made.child === undefined) return made.refusal ? [] : [`exit ${made.exit}: ${made.stderr}`]
  const again = await run(parent, ['--at', 'last', '--id', KID])
  if (again.exit !== REFUSED || !again.refusal) faults.push('a session was written over, or nearly')
  const named = await run(parent, ['--at', 'last'])
  if (!/^session-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(named.child?.id)) faults.push(`its own id is ${named.child?.id}`)
  for (const path of [made.child.path, named.child?.path ?? parent.file, made.child.path.replace(/[^/]*$/, '')]) {
    const proof = await command(parent, ['verify', '--json', path])
    if (proof.exit !== 0) faults.push(`verify of ${basename(path)}: exit ${proof.exit}: ${proof.stdout}`)
  }
  if (parent.header.version === 0) {
    const { verdict } = await judge({ name: parent.name, file: made.child.path, id: KID, root: parent.root })
    if (!verdict.loads || verdict.listed !== true) faults.push(`beside its parent: ${verdict.error ?? verdict.listed}`)
  }
  return faults
}

async function run(parent, args) {
  const { stdout, ...end } = await command(parent, ['fork', '--json', ...args, parent.file])
  try {
    const { child, refusal } = JSON.parse(stdout)
    return { ...end, child, refusal }
  } catch {
    return end
  }
}

function command(parent, args) {
  const env = { PATH: process.env.PATH, HOME: parent.home, NO_COLOR: '1', TMPDIR: scratch }
  return new Promise((done) => {
    execFile(binary, args, { env, cwd: parent.home, timeout: 60_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      done({ exit: error === null ? 0 : error.code ?? error.signal, stdout, stderr })
    })
  })
}

async function there(path) {
  try {
    return (await readdir(path)).length > 0
  } catch {
    return false
  }
}
