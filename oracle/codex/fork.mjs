// node fork.mjs BIN [PATH…] [--healthy DIR] [--shared DIR] [--close] [--only WORD] [--jobs N] [--every N] [--keep DIR]: forks every rollout at
// every place where nothing is open, and asks the real client about the children: each is listed, read and resumed, sends what its parent
// had said up to the cut, and goes on. At all other places BIN must refuse. With --close it must end there what is open. No parent may change.
// One line for each fault; the last line counts.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ask, PROMPT, visit } from './lib/ask.mjs'
import { findProgram, placesIn } from './lib/client.mjs'
import { faultsOf } from './lib/compare.mjs'
import { legalLines } from './lib/cuts.mjs'
import { healthySources } from './lib/damaged.mjs'
import { forEachOf } from './lib/each.mjs'
import { historyOf } from './lib/history.mjs'
import { age, changesOf, rolloutsIn, settle, treeOf } from './lib/home.mjs'
import { rewritten } from './lib/kept.mjs'
import { run } from './lib/processes.mjs'
import { libraryOf, readName, rolloutOf } from './lib/rollouts.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { wantedOf } from './lib/wanted.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    healthy: { type: 'string' }, shared: { type: 'string' }, close: { type: 'boolean', default: false }, only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' }, every: { type: 'string', default: '1' }, keep: { type: 'string' },
  },
})
const [binary, ...paths] = positionals
const program = await findProgram()
if (binary === undefined || !existsSync(binary) || program === undefined) {
  console.error('usage: node fork.mjs BIN [PATH…] [--healthy DIR] [--shared DIR] [--close] [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR]')
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-fork-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

/** Their bytes are damaged: a repair comes first. */
const DAMAGED = /torn-|mixed-clients/
const tally = { passed: 0, failed: 0 }
let count = 0
const wants = () => count++ % Number(values.every) === 0
const sources = (await allSources()).filter(({ name }) => name.includes(values.only) && !DAMAGED.test(name))
if (sources.length === 0) console.log('SKIPPED: no sessions here, and none named')
await forEachOf(sources, Number(values.jobs), async (source, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const tell = (place, faults) => {
    tally[faults.length > 0 ? 'failed' : 'passed'] += 1
    for (const fault of faults) console.log(`FAIL ${source.name}, ${place}: ${fault}`)
  }
  await trial(source, folder, tell).catch(error => tell('all', [`no verdict: ${error.stack}`]))
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`fork: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 ? 1 : 0)

async function allSources() {
  const out = []
  if (values.healthy !== undefined) out.push(...await healthySources(values.healthy))
  if (values.shared !== undefined && existsSync(values.shared)) out.push(...(await sharedSources(resolve(values.shared), scratch)).filter(({ name }) => !name.startsWith('field')))
  if (paths.length > 0) out.push(...await namedSources(paths, () => {}))
  return out
}

async function trial({ files }, folder, tell) {
  const places = placesIn(join(folder, 'user'))
  await mkdir(places.codex, { recursive: true, mode: 0o700 })
  await settle(files, places.codex)
  const parents = await rolloutsIn(places.codex)
  const library = libraryOf(parents)
  // The client has filled its database before, as it has where a person works.
  await visit(program, places, [], providersOf(library))
  await age(places.codex)
  const before = await treeOf(places.codex)
  const sessfix = (...args) => inHome(places, folder, args)
  const children = []
  for (const { name, path } of parents) {
    const rollout = library.get(readName(name).id)
    if (rollout.name !== name) continue // the client opens the plain one
    const bare = rollout.records.length === 0
    const listed = await sessfix('fork', '--list', '--json', path)
    const shown = listed.report?.places ?? []
    const legal = bare ? shown.filter(place => place.legal).map(place => place.line) : legalLines(library, rollout)
    const found = shown.filter(place => place.legal).map(place => place.line)
    tell(`${name}, places`, [
      ...listed.status === 0 ? [] : [`--list ends with ${listed.status}: ${listed.err}`],
      ...String(found) === String(legal) ? [] : [`it lists the places behind ${found}, and those are ${legal}`],
    ])
    for (const place of shown) {
      if (!wants()) continue
      const where = `${name}, line ${place.line}`
      const closes = values.close && !place.legal && place.closable
      if (values.close && !closes) continue
      const made = await sessfix('fork', '--json', '--at', `line:${place.line}`, ...closes ? ['--close'] : [], path)
      const { child, refusal } = made.report ?? {}
      if (!place.legal && !closes) {
        tell(where, made.status === 3 && refusal && child === undefined ? [] : [`not refused: ${made.status} ${made.err}`])
        continue
      }
      if (made.status !== 0 || child === undefined) {
        tell(where, [`it ends with ${made.status}: ${refusal ?? made.err}`])
        continue
      }
      children.push({ where, rollout, line: place.line, id: child.id, path: child.path, bare, faults: closes ? [] : lineage(child, rollout, await readFile(child.path)) })
    }
  }
  for (const child of children.filter(({ bare }) => bare)) {
    const { status, err } = await sessfix('migrate', '--json', child.path)
    if (status !== 0) child.faults.push(`its migration ends with ${status}: ${err}`)
  }
  const made = new Set(children.map(({ path }) => path))
  const changes = changesOf(before, await treeOf(places.codex)).filter(({ path, how }) => how !== 'added' || !made.has(join(places.codex, path)))
  tell('files', changes.map(({ path, how }) => `${how} ${path}`))
  await judge(places, library, children, tell)
}

/** The client is asked about all children in one go. */
async function judge(places, library, children, tell) {
  if (children.length === 0) return
  await age(places.codex)
  const before = libraryOf(await rolloutsIn(places.codex))
  const answers = await ask(program, places, children.map(({ id }) => id), providersOf(before))
  for (const { where, rollout, line, id, bare, faults } of children) {
    const self = before.get(id)
    const { inherited, own } = bare ? { inherited: [], own: self.records } : historyOf(library, rollout)
    const history = bare ? own : [...inherited, ...own.filter(record => record.line.number <= line)]
    const wanted = wantedOf({ inherited: [], own: history })
    tell(where, [...faults, ...faultsOf(wanted, answers.get(id), PROMPT)])
  }
  const now = libraryOf(await rolloutsIn(places.codex))
  tell('what the client did', rewritten(before, now))
}

function providersOf(library) {
  return [...library.values()].flatMap(({ header }) => typeof header?.model_provider === 'string' ? [header.model_provider] : [])
}

/** What the header of a child says. */
function lineage(child, parent, bytes) {
  if (parent.header === undefined) return []
  const { header, records, thread } = rolloutOf(child.path.split('/').at(-1), bytes)
  const faults = []
  const is = (name, value) => { if (header?.[name] !== value) faults.push(`the header's ${name} is ${header?.[name]}`) }
  is('id', thread)
  is('session_id', thread)
  is('forked_from_id', parent.header.id)
  is('history_base', undefined)
  is('forked_from_ordinal_exclusive', undefined)
  is('history_mode', parent.header.history_mode)
  is('cwd', parent.header.cwd)
  if (header?.history_mode === 'paginated' && records.some(({ value }, n) => value.ordinal !== n)) faults.push('its records are not numbered from 0')
  if (records.filter(({ value }) => value.type === 'session_meta').length !== 1) faults.push('it has not one header')
  if (records.some(({ value: { payload } }) => /^(item_completed|thread_settings_applied)$/.test(payload.type) && payload.thread_id !== thread)) faults.push('records name another thread')
  return faults
}

async function inHome({ home, codex }, folder, args) {
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: codex, TMPDIR: folder, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const at = args.at(-1)
  const { status, out, err } = await run(binary, [...args.slice(0, -1), at.startsWith('/') ? at : join(codex, at)], { env, cwd: home })
  let report
  try {
    report = JSON.parse(out)
  } catch {
    // It said nothing.
  }
  return { status, err: err.slice(0, 200), report }
}
