// Writes all sessions, in both encodings and in three versions, with the real libraries.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { openHost, windClock } from './client.mjs'
import { pack } from './frames.mjs'
import { readLog, writeLog } from './later.mjs'
import { logPath } from './place.mjs'
import { CWD, LATE, STOPS, branch, halfCompacted, helper, oneMore, orchard, stopped, tiny } from './scenes.mjs'

/**
 * Fills `out` and returns its index: { name, file, id, root, version, encoding, expect, what }, paths relative to `out`.
 * `expect` is what sessfix must say: 'clean', 'repaired', 'refused', or absent where more than one answer is right.
 */
export async function writeSessions(out) {
  const index = []
  for (const encoding of ['plain', 'zstd']) {
    const root = join(out, encoding, 'sessions')
    await rm(join(out, encoding), { recursive: true, force: true })
    await mkdir(root, { recursive: true, mode: 0o700 })
    windClock()
    for (const session of await writeAll(root, encoding)) {
      const file = logPath(root, { cwd: session.cwd, id: session.id, encoding })
      index.push({ name: `${session.id}.v0.jsonl${encoding === 'zstd' ? '.zstd' : ''}`, ...session, version: 0, encoding, file: relative(out, file), root: relative(out, root) })
    }
  }
  for (const version of [2, 3]) {
    await rm(join(out, `v${version}`), { recursive: true, force: true })
    for (const session of index.filter(item => item.version === 0 && item.encoding === 'plain')) {
      index.push(...await migrated(out, session, version))
    }
  }
  await writeFile(join(out, 'index.json'), JSON.stringify(index, null, 1) + '\n')
  return index
}

async function writeAll(root, encoding) {
  const made = []
  const note = (id, expect, what, more) => made.push({ id, cwd: CWD, expect, what, ...more })
  let host = await openHost(root, encoding)
  const make = async (id, write, meta = { cwd: CWD }) => {
    const session = host.sessions.create(id, { meta })
    await write(session, () => host.save(session))
    await host.save(session)
    return session
  }

  await make('tiny', tiny)
  note('tiny', 'clean', 'one turn')
  await make('no-folder', tiny, {})
  note('no-folder', 'clean', 'one turn, header without cwd', { cwd: undefined })
  const parent = await make('orchard', orchard)
  note('orchard', 'clean', 'two turns with calls, approval, retry, todo, compaction, packed rows')

  const child = host.sessions.fork(parent, parent.events.findLast(event => event.type === 'turn/end').seq, 'orchard-fork')
  await branch(child)
  await host.save(child)
  note('orchard-fork', 'clean', 'fork of orchard at its last turn end, one turn more')
  await make('orchard-helper', helper, { cwd: CWD, parentSession: 'orchard', origin: 'subagent', delegationDepth: 1 })
  note('orchard-helper', 'clean', 'sub-agent of orchard')

  for (const [stop, what] of Object.entries(STOPS)) {
    await make(`stop-${stop}`, (session, save) => stopped(session, stop, save))
    note(`stop-${stop}`, 'repaired', what, { crash: true })
  }
  await make('stop-compaction', halfCompacted)
  note('stop-compaction', undefined, 'a compaction was opened between turns and never closed')

  for (const id of ['resumed', 'overtaken', 'two-writers']) await make(id, (session, save) => stopped(session, 'one-result', save))
  await host.close()

  // A crash that the client mended itself, and the turn after that.
  host = await openHost(root, encoding)
  const again = await host.resume('resumed')
  await oneMore(again, 3)
  await host.save(again)
  note('resumed', 'clean', 'crashed, closed and resumed by the client, one turn more')

  // Two processes at once. Nothing in version 0 prevents it.
  const other = await openHost(root, encoding)
  const slow = await other.resume('two-writers')
  await oneMore(slow, 3)
  const fast = await host.resume('two-writers')
  await oneMore(fast, 3, 'm-elsewhere', 'Plant a hedge')
  await other.save(slow)
  await host.save(fast)
  await other.close()
  await host.close()
  note('two-writers', 'refused', 'two clients each added a turn of their own: the same numbers twice')

  await overtake(root, encoding)
  note('overtaken', 'repaired', 'a second client closed the open turn, then the first one stored the real result')
  return made
}

/** The first client still runs its tool while a second one opens the session and closes the turn. */
async function overtake(root, encoding) {
  await rm(dirname(logPath(root, { cwd: CWD, id: 'overtaken', encoding })), { recursive: true })
  const first = await openHost(root, encoding)
  const session = first.sessions.create('overtaken', { meta: { cwd: CWD } })
  const a = await stopped(session, 'one-result', () => first.save(session))
  await first.save(session)
  const second = await openHost(root, encoding)
  await second.disk.load('overtaken')
  await second.close()
  a.result(LATE, 'row 3 watered')
  a.closeStep()
  a.closeTurn()
  await first.save(session)
  await first.close()
}

/** The same session as the published upgrade writes it; nothing where the upgrade refuses the log. */
async function migrated(out, session, version) {
  const text = await readFile(join(out, session.file), 'utf8')
  let lines
  try {
    lines = writeLog(readLog(text, 'recoverable', version))
  } catch (error) {
    session.refusesVersion = version
    session.refusal = error.message
    return []
  }
  const root = join(out, `v${version}`, 'sessions')
  const files = [['plain', lines.join('')]]
  if (version === 3) files.push(['zstd', Buffer.concat([pack(lines[0]), pack(lines.slice(1).join(''))])])
  const made = []
  for (const [encoding, bytes] of files) {
    const home = encoding === 'zstd' ? join(out, `v${version}-zstd`, 'sessions') : root
    const file = logPath(home, { cwd: session.cwd, id: session.id, version, encoding })
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, bytes)
    made.push({ ...session, name: `${session.id}.v${version}.jsonl${encoding === 'zstd' ? '.zstd' : ''}`, version, encoding, file: relative(out, file), root: relative(out, home) })
  }
  return made
}
