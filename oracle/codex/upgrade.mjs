// node upgrade.mjs BIN [PATH…] [--healthy DIR] [--shared DIR] [--only WORD] [--jobs N] [--every N] [--keep DIR]: brings rollouts of older kinds
// over, and holds the results against what the client's own migration makes of the same files, member by member. What that drops must be
// there. Then the real client is asked: it lists, reads and resumes the results, sends what was said, and goes on. Each home is tried as
// new, and as one that the client has seen before. One line for each fault; the last line counts.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ask, PROMPT, visit } from './lib/ask.mjs'
import { environment, findProgram, placesIn } from './lib/client.mjs'
import { faultsOf } from './lib/compare.mjs'
import { healthySources } from './lib/damaged.mjs'
import { forEachOf } from './lib/each.mjs'
import { age, changesOf, rolloutsIn, settle, treeOf } from './lib/home.mjs'
import { rewritten } from './lib/kept.mjs'
import { isObject } from './lib/lines.mjs'
import { differencesOf, lostOf } from './lib/migrated.mjs'
import { bareSources, legacySources } from './lib/older.mjs'
import { run } from './lib/processes.mjs'
import { libraryOf, rolloutOf } from './lib/rollouts.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { wantedOf } from './lib/wanted.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    healthy: { type: 'string' }, shared: { type: 'string' }, only: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' }, every: { type: 'string', default: '1' }, keep: { type: 'string' },
  },
})
const [binary, ...paths] = positionals
const program = await findProgram()
if (binary === undefined || !existsSync(binary) || program === undefined) {
  console.error('usage: node upgrade.mjs BIN [PATH…] [--healthy DIR] [--shared DIR] [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR]')
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-upgrade-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const tally = { passed: 0, failed: 0 }
const trials = (await allSources()).filter(({ name }) => name.includes(values.only)).flatMap(source => [
  { ...source, to: 'paginated', lived: false }, { ...source, to: 'paginated', lived: true },
  ...source.files.some(isBare) ? [{ ...source, to: 'legacy', lived: false }] : [],
]).filter((trial, n) => n % Number(values.every) === 0)
await forEachOf(trials, Number(values.jobs), async (trial, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const faults = await judge(trial, folder).catch(error => [`no verdict: ${error.stack}`])
  tally[faults.length > 0 ? 'failed' : 'passed'] += 1
  for (const fault of faults) console.log(`FAIL ${trial.name} to ${trial.to}${trial.lived ? ', in a home that was lived in' : ''}: ${fault}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`upgrade: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || trials.length === 0 ? 1 : 0)

async function allSources() {
  const out = [...bareSources(), ...legacySources()]
  if (values.healthy !== undefined) out.push(...await healthySources(values.healthy))
  if (values.shared !== undefined && existsSync(values.shared)) out.push(...(await sharedSources(resolve(values.shared), scratch)).filter(({ name }) => !name.startsWith('field')))
  if (paths.length > 0) out.push(...await namedSources(paths, () => {}))
  return out.map(source => ({ ...source, files: source.files.filter(isOld) })).filter(({ files }) => files.length > 0)
}

function isOld({ name, bytes }) {
  if (name.endsWith('.zst')) return false
  const { header } = rolloutOf(name, bytes)
  return header === undefined ? isBare({ bytes }) : (header.history_mode ?? 'legacy') === 'legacy'
}

function isBare({ bytes }) {
  const first = objectsOf(bytes)[0]
  return first !== undefined && typeof first.id === 'string' && !('type' in first)
}

function objectsOf(bytes) {
  return bytes.toString().split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  }).filter(isObject)
}

async function judge({ files, to, lived, refused, strict }, folder) {
  const places = await homeOf(files, join(folder, 'sessfix'), lived)
  const before = await treeOf(places.codex)
  const old = new Map((await rolloutsIn(places.codex)).map(file => [file.name, file]))
  const planned = await sessfix(places, folder, 'migrate', '--json', '--dry-run', '--to', to)
  const touched = changesOf(before, await treeOf(places.codex)).map(({ path, how }) => `a dry run: ${how} ${path}`)
  const made = await sessfix(places, folder, 'migrate', '--json', '--to', to)
  if (refused || strict) {
    const faults = made.status === 3 ? [] : [`not refused: it ends with ${made.status}`]
    const theirs = await clientsOwn(files, join(folder, 'client'))
    if (refused && theirs.failed.length === 0) faults.push('the client does not refuse')
    return [...faults, ...changesOf(before, await treeOf(places.codex)).map(({ path, how }) => `refused, and ${how} ${path}`)]
  }
  if (made.status !== 0) return [`it ends with ${made.status}: ${made.err} ${JSON.stringify(made.report?.sessions?.map(({ refusal }) => refusal))}`]
  const faults = [...touched]
  if (planned.status !== 1) faults.push(`a dry run ends with ${planned.status}`)
  // What is open is closed first: that is what both begin with.
  const mended = await homeOf(files, join(folder, 'mended'), false)
  const repair = await sessfix(mended, folder, 'repair', '--json')
  if (repair.status !== 0) faults.push(`repair ends with ${repair.status}`)
  const whole = new Map((await rolloutsIn(mended.codex)).map(file => [file.name, file.bytes]))
  const now = await rolloutsIn(places.codex)
  faults.push(...[...old.keys()].filter(name => !now.some(file => file.name === name)).map(name => `${name} is gone`))
  faults.push(...await againstClient(now, whole, to, join(folder, 'client')), ...lost(now, whole, planned.report))

  const once = await treeOf(places.codex)
  const again = await sessfix(places, folder, 'migrate', '--json', '--to', to)
  if (again.status !== 0) faults.push(`a second time it ends with ${again.status}`)
  faults.push(...changesOf(once, await treeOf(places.codex)).map(({ path, how }) => `a second time: ${how} ${path}`))
  const verify = await sessfix(places, folder, 'verify', '--json')
  if (verify.status !== 0) faults.push(`verify ends with ${verify.status} on the result`)
  return [...faults, ...await askAll(places, whole, lived)]
}

/** The client's own migration of what sessfix began with; of bare rollouts there is none, but of what became of them there is. */
async function againstClient(now, whole, to, folder) {
  if (to !== 'paginated') return []
  const legacy = []
  for (const { name, bytes } of now) {
    const source = whole.get(name)
    legacy.push({ name, archived: false, bytes: isBare({ bytes: source }) ? await enveloped(name, source, `${folder}-bare`) : source })
    if (rolloutOf(name, bytes).header?.history_mode !== 'paginated') return [`${name} is not paginated`]
  }
  const theirs = await clientsOwn(legacy, folder)
  if (theirs.failed.length > 0) return theirs.failed.map(message => `the client refuses: ${message}`)
  return now.flatMap(({ name, bytes }) => differencesOf(objectsOf(legacy.find(file => file.name === name).bytes), objectsOf(bytes), objectsOf(theirs.files.get(name)))
    .map(fault => `${name}: ${fault}`))
}

async function enveloped(name, bytes, folder) {
  const places = await homeOf([{ name, bytes, archived: false }], folder, false)
  await sessfix(places, folder, 'migrate', '--to', 'legacy')
  return (await rolloutsIn(places.codex))[0].bytes
}

async function clientsOwn(files, folder) {
  const places = await homeOf(files, folder, false)
  const { out, status, err } = await run(program, ['migrate-rollouts', '--apply', '--json'], { env: environment(places), cwd: places.project })
  if (status !== 0 && out === '') throw new Error(`the client's migration ends with ${status}: ${err.slice(0, 300)}`)
  const failed = JSON.parse(out).outcomes.filter(outcome => outcome.status === 'failed').map(outcome => outcome.message)
  return { failed, files: new Map((await rolloutsIn(places.codex)).map(file => [file.name, file.bytes])) }
}

/** Words of the source that are nowhere in the result, and not in a record that the report says is dropped. */
function lost(now, whole, report) {
  return now.flatMap(({ name, bytes }) => {
    const parts = report.sessions.flatMap(session => session.parts ?? []).filter(part => basename(part.path) === name)
    const dropped = new Set(parts.flatMap(part => part.changes ?? []).filter(change => change.kind === 'dropped').map(change => change.line - 1))
    return lostOf(objectsOf(whole.get(name)), objectsOf(bytes), dropped).map(fault => `${name}: ${fault}`)
  })
}

async function askAll(places, whole, lived) {
  await age(places.codex)
  const before = libraryOf(await rolloutsIn(places.codex))
  const providers = [...before.values()].flatMap(({ header }) => typeof header?.model_provider === 'string' ? [header.model_provider] : [])
  const answers = await ask(program, places, [...before.values()].map(({ thread }) => thread), providers)
  const faults = []
  for (const rollout of before.values()) {
    const bytes = whole.get(rollout.name)
    const source = isBare({ bytes }) ? itemsOf(bytes) : rolloutOf(rollout.name, bytes).records.filter(({ value }) => value.type !== 'session_meta')
    const { items, again, cut } = wantedOf({ inherited: [], own: source })
    const own = rollout.records.filter(({ value }) => value.type !== 'session_meta')
    const shown = wantedOf({ inherited: [], own })
    const answer = answers.get(rollout.thread)
    // The client's database says that a thread it has seen is a legacy one, until it is resumed.
    if (lived && /list_turns is not supported/.test(answer.read)) answer.read = answer.readAgain
    faults.push(...faultsOf({ ...shown, items: items.filter(item => !isGone(item, source)), again, cut, shown: shownOf(shown.shown, own) }, answer, PROMPT).map(fault => `${rollout.thread}: ${fault}`))
  }
  return [...faults, ...rewritten(before, libraryOf(await rolloutsIn(places.codex)))]
}

/** An item that is told anew is shown as it was told last; one of a turn that is not on record is not shown; images are shown in another form. */
function shownOf(shown, records) {
  const payloads = records.map(({ value }) => value.payload)
  const turns = new Set(payloads.filter(({ type }) => /^(task|turn)_started$/.test(type)).map(payload => payload.turn_id))
  const done = new Map(payloads.filter(({ type }) => type === 'item_completed').map(payload => [payload.item.id, payload]))
  const plain = id => [done.get(id).item.content].flat().every(part => /^text$/i.test(part?.type))
  return [...new Map(shown.map(item => [item.id, item])).values()].filter(({ id }) => turns.has(done.get(id).turn_id)).map(({ id, text }) => ({ id, text: plain(id) ? text : undefined }))
}

/** What the client puts in front of a turn goes with it where it is taken back. */
function isGone({ sketch }, records) {
  return /^user: \s*</.test(sketch) && records.some(({ value }) => value.payload.type === 'thread_rolled_back')
}

function itemsOf(bytes) {
  return objectsOf(bytes).filter(value => 'type' in value).map(value => ({ value: { type: 'response_item', payload: value }, line: {} }))
}

async function homeOf(files, folder, lived) {
  const places = placesIn(folder)
  await mkdir(places.codex, { recursive: true, mode: 0o700 })
  await mkdir(places.project, { recursive: true })
  await settle(files, places.codex)
  if (lived) {
    const threads = files.filter(file => !isBare(file)).map(({ name, bytes }) => rolloutOf(name, bytes).thread)
    await visit(program, places, threads, ['oracle', 'mock'])
    // A resume leaves a record behind: the home is what it was, but known to the client.
    await settle(files, places.codex)
  }
  await age(places.codex)
  return places
}

async function sessfix({ home, codex }, folder, command, ...args) {
  await age(codex)
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: codex, TMPDIR: folder, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const { status, out, err } = await run(binary, [command, ...args, codex], { env, cwd: home })
  let report
  try {
    report = JSON.parse(out)
  } catch {
    // It said nothing.
  }
  return { status, err: err.slice(0, 200), report }
}
