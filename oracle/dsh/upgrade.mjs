// node upgrade.mjs BINARY [--jobs N] [--every N] [--only WORD] [--keep DIR] [--shuffled N] [--also PATH…]: BINARY brings sessions to each newer
// generation, and each record is held against what the published upgrade makes of it. Logs that the published upgrade
// refuses are mended or refused by BINARY, as upgrades.txt says, and the published decoders read what was mended. --every takes
// one trial of N; --only takes those with WORD in their name; --also adds your own logs and folders of logs. --shuffled N
// (100) makes N logs of each version out of the lines of upgrades.txt, from the seed on that --seed names.
import { execFile } from 'node:child_process'
import { copyFile, lutimes, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { judgeEach } from './lib/each.mjs'
import { pack, unpack, walkFrames } from './lib/frames.mjs'
import { readLog, writeLog } from './lib/later.mjs'
import { encodingOf, logName, logPath } from './lib/place.mjs'
import { logOf, readRecipes, shuffled } from './lib/recipes.mjs'
import { same } from './lib/records.mjs'
import { writeSessions } from './lib/sessions.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' }, every: { type: 'string', default: '1' }, only: { type: 'string', default: '' },
    keep: { type: 'string' }, also: { type: 'string', multiple: true, default: [] },
    shuffled: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' },
  },
})
const [given, ...rest] = positionals
const [jobs, every] = [values.jobs, values.every].map(Number)
if (given === undefined || (rest.length > 0 && values.also.length === 0) || !(jobs >= 1 && every >= 1)) {
  console.error('usage: node upgrade.mjs BINARY [--jobs N] [--every N] [--only WORD] [--keep DIR] [--shuffled N] [--seed N] [--also PATH…]')
  process.exit(2)
}
const binary = resolve(given)
const REFUSED = 3
const NEWEST = 3 // of the published packages
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-upgrade-')) : resolve(values.keep)
const tally = {}
const ended = { passed: 0, failed: 0 }
try {
  const trials = [...await ofSessions(), ...await ofRecipes(), ...await ofShuffled()].filter(({ name }, n) => name.includes(values.only) && n % every === 0)
  Object.assign(ended, await judgeEach(trials, jobs, scratch, values.keep !== undefined, ({ run }, home) => run(home)))
} finally {
  if (values.keep === undefined) await rm(scratch, { recursive: true, force: true })
}
console.log(Object.entries(tally).map(([what, count]) => `${count} ${what}`).join(', '))
console.log(`${ended.passed} passed, ${ended.failed} failed`)
process.exit(ended.failed > 0 || ended.passed === 0 ? 1 : 0)

/** Our own sessions and the caller's, each to each newer generation. */
async function ofSessions() {
  const made = join(scratch, 'made')
  const files = (await writeSessions(made)).map(item => join(made, item.file))
  for (const path of [...values.also, ...rest].map(path => resolve(path))) {
    const inside = (await stat(path)).isDirectory() ? (await readdir(path)).sort().map(name => join(path, name)) : [path]
    files.push(...inside.filter(name => /\.jsonl(\.zstd)?$/.test(name)))
  }
  const out = []
  for (const file of files) {
    const bytes = await readFile(file)
    const header = headerOf(bytes, encodingOf(file))
    if (header?.type !== 'session' || !Number.isInteger(header.version) || !('createdAt' in header)) continue
    for (let to = header.version + 1; to <= NEWEST; to += 1) {
      const name = `${basename(dirname(file))}/${basename(file)} to ${to}`
      out.push({ name, run: home => trial({ bytes, header, encoding: encodingOf(file), from: header.version, to, home, word: undefined }) })
    }
  }
  return out
}

/** What upgrades.txt describes, plain, and every third compressed. */
async function ofRecipes() {
  const out = []
  for (const recipe of await readRecipes(new URL('upgrades.txt', import.meta.url))) {
    for (const from of recipe.from) {
      for (const to of recipe.to.filter(to => to > from && to <= NEWEST)) {
        const text = logOf(recipe, from)
        const header = JSON.parse(text.slice(0, text.indexOf('\n')))
        const encoding = out.length % 3 === 2 ? 'zstd' : 'plain'
        const bytes = encoding === 'plain' ? Buffer.from(text) : Buffer.concat([pack(text.slice(0, text.indexOf('\n') + 1)), pack(text.slice(text.indexOf('\n') + 1))])
        out.push({ name: `${recipe.name} (${from} to ${to})`, run: home => trial({ bytes, header, encoding, from, to, home, word: recipe.word }) })
      }
    }
  }
  return out
}

/** Logs that nobody would write, many in one home, to each target. */
async function ofShuffled() {
  const recipes = await readRecipes(new URL('upgrades.txt', import.meta.url))
  const out = []
  for (const [from, to] of [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]]) {
    if (Number(values.shuffled) > 0) out.push({ name: `shuffled (${from} to ${to})`, run: home => crowd({ recipes, from, to, home }) })
  }
  return out
}

/** One run over many logs: what the published upgrade takes is equal, and what is written its decoders read. */
async function crowd({ recipes, from, to, home }) {
  const faults = []
  const logs = []
  const root = join(home, '.dsh', 'sessions')
  const other = join(home, 'repaired')
  for (let n = 0; n < Number(values.shuffled); n += 1) {
    const seed = Number(values.seed) + n
    const id = `s${seed}`
    const recipe = shuffled(recipes.filter(recipe => recipe.from.includes(from)), seed)
    const text = logOf(recipe, from).replace(/"id":"tide[^,]*,/g, `"id":"${id}",`)
    const log = { name: id, text, file: logPath(root, { id, version: from }), mended: logPath(join(other, '.dsh', 'sessions'), { id, version: from }) }
    for (const file of [log.file, log.mended]) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, text)
      await age(dirname(file))
    }
    logs.push(log)
  }
  await command(home, ['migrate', '--json', '--to', String(to), root])
  await command(other, ['repair', '--json', join(other, '.dsh', 'sessions')])
  for (const log of logs) {
    const text = await readFile(log.mended, 'utf8')
    const real = attempt(() => readLog(text, 'strict', to))
    const made = await readFile(join(dirname(log.file), logName(to, 'plain'))).catch(() => undefined)
    const say = list => faults.push(...list.map(fault => `${log.name}: ${fault}`))
    if (log.text !== await readFile(log.file, 'utf8')) say(['the old generation changed'])
    if (made === undefined) {
      count('shuffled refused')
      const damaged = log.text === text && (await command(home, ['verify', '--json', log.file])).exit === REFUSED
      if (real.error === undefined && !damaged) say(['refused, where the published upgrade takes it'])
      continue
    }
    const read = await judged({ made, encoding: 'plain', to })
    say(read)
    count(real.error === undefined ? 'shuffled compared' : 'shuffled mended')
    if (real.error === undefined && read.length === 0) say(compare(made.toString(), real.value, to))
  }
  return faults
}

/** One log, one target. `word` is undefined for a session: it is upgraded as a repair would leave it, or refused as repair refuses it. */
async function trial({ bytes, header, encoding, from, to, home, word }) {
  const faults = []
  const place = { cwd: header.cwd, id: header.id, encoding }
  const root = join(home, '.dsh', 'sessions')
  const file = logPath(root, { ...place, version: from })
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, bytes)
  const text = textOf(bytes, encoding)
  const real = attempt(() => readLog(text, 'strict', to))
  if (word === '=' && real.error) faults.push(`the published upgrade refuses it: ${real.error}`)
  if (word !== undefined && word !== '=' && !real.error) faults.push('the published upgrade takes it as it is')

  const told = await run(home, file, to, '--dry-run')
  if ((await readdir(dirname(file))).length > 1) faults.push('a dry run wrote something')
  const done = await run(home, file, to)
  if ((told.exit === REFUSED) !== (done.exit === REFUSED)) faults.push(`a dry run ends with ${told.exit}, the run with ${done.exit}`)
  const result = join(dirname(file), logName(to, encoding))
  if (!bytes.equals(await readFile(file))) faults.push('the old generation changed')
  const made = await readFile(result).catch(() => undefined)
  const others = (await readdir(dirname(file))).filter(name => ![basename(file), basename(result), 'session.lock'].includes(name))
  if (others.length > 0) faults.push(`left behind: ${others.join(', ')}`)
  if (made === undefined) {
    count('refused')
    if (done.exit !== REFUSED || !done.session?.refusal) faults.push(`exit ${done.exit}, nothing written: ${done.session?.refusal ?? done.stderr}`)
    if (word !== undefined && word !== '!') faults.push(`refused: ${done.session?.refusal}`)
    if (word === undefined && !real.error) faults.push(`refused, where the published upgrade takes it: ${done.session?.refusal}`)
    if (word === undefined && real.error && await repaired(home, file, place, from) !== undefined) faults.push(`refused, and yet repair mends it: ${done.session?.refusal} | ${real.error}`)
    return faults
  }
  if (done.exit !== 0) faults.push(`exit ${done.exit}, and a result was written: ${done.session?.refusal ?? done.stderr}`)
  if (word === '!') faults.push('upgraded, where it should be refused')
  faults.push(...await judged({ made, encoding, to }))
  const ours = textOf(made, encoding)
  if (word === undefined || word === '=') {
    count('compared')
    const whole = await repaired(home, file, place, from)
    const wanted = attempt(() => readLog(whole ?? text, 'strict', to))
    if (wanted.error === undefined) faults.push(...compare(ours, wanted.value, to))
    else if (told.reasons.length === 0) faults.push(`the published upgrade refuses it: ${wanted.error}`)
  } else {
    count('mended')
    if (!told.reasons.some(reason => reason.includes(word))) faults.push(`does not say ${JSON.stringify(word)}, but ${JSON.stringify(told.reasons)}`)
  }
  faults.push(...await again({ home, file, result, made, to }))
  return faults
}

/** The published decoder of the target reads it strictly; a compressed one has the frames that its client wants. */
async function judged({ made, encoding, to }) {
  const faults = []
  if (encoding === 'zstd') {
    const { frames, stop } = walkFrames(made)
    if (stop !== made.length) faults.push(`no whole frame at byte ${stop}`)
    if (unpack(made.subarray(frames[0].start, frames[0].end)).toString().indexOf('\n') + 1 !== unpack(made.subarray(frames[0].start, frames[0].end)).length) faults.push('the first frame is not the header line alone')
  }
  const read = attempt(() => readLog(textOf(made, encoding), 'strict', to))
  if (read.error !== undefined) faults.push(`the published decoder refuses the result: ${read.error}`)
  return faults
}

/** Field by field: header, events, and the lines that the published writer would have written. */
function compare(ours, wanted, to) {
  const read = attempt(() => readLog(ours, 'strict', to))
  if (read.error !== undefined) return []
  const faults = []
  const have = read.value
  if (!same(plain(have.header), plain(wanted.header))) faults.push(`header: ${JSON.stringify(have.header)}, theirs ${JSON.stringify(wanted.header)}`)
  if (have.inheritedEventCount !== wanted.inheritedEventCount) faults.push(`inherited: ${have.inheritedEventCount}, theirs ${wanted.inheritedEventCount}`)
  if (have.events.length !== wanted.events.length) faults.push(`${have.events.length} events, theirs ${wanted.events.length}`)
  const at = wanted.events.findIndex((event, n) => !same(plain(have.events[n] ?? null), plain(event)))
  if (at >= 0) faults.push(`event ${at}: ${JSON.stringify(have.events[at])}\n  theirs: ${JSON.stringify(wanted.events[at])}`)
  if (to < 2 || faults.length > 0) return faults // version 1 has no published writer
  const lines = ours.split('\n').slice(0, -1)
  const theirs = writeLog(wanted).map(line => line.slice(0, -1))
  const line = theirs.findIndex((row, n) => !same(attempt(() => JSON.parse(lines[n])).value, JSON.parse(row)))
  if (line >= 0) faults.push(`line ${line + 1}: ${lines[line]}\n  theirs: ${theirs[line]}`)
  return faults
}

function plain(value) {
  return JSON.parse(JSON.stringify(value))
}

/** A second run, and a run from the result on, change nothing and write nothing new. */
async function again({ home, file, result, made, to }) {
  const faults = []
  for (const path of [file, result]) {
    const { exit, stderr, session } = await run(home, path, to)
    if (exit !== 0) faults.push(`again from ${basename(path)}: exit ${exit}: ${session?.refusal ?? stderr}`)
  }
  if (!made.equals(await readFile(result))) faults.push('a second run changed the result')
  const proof = await command(home, ['verify', '--json', result])
  if (proof.exit !== 0) faults.push(`verify of the result ends with ${proof.exit}`)
  return faults
}

/** The log as sessfix repair leaves it, in a home of its own; undefined where repair refuses it. */
async function repaired(home, file, place, version) {
  const other = join(home, 'repaired')
  const copy = logPath(join(other, '.dsh', 'sessions'), { ...place, version })
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
  await copyFile(file, copy)
  await age(dirname(copy))
  const { exit } = await command(other, ['repair', '--json', copy])
  return exit === 0 ? textOf(await readFile(copy), place.encoding) : undefined
}

/** One run of migrate, with the reasons that it gives for what it does to single records. */
async function run(home, file, to, ...more) {
  await age(dirname(file))
  const out = await command(home, ['migrate', '--json', ...more, '--to', String(to), file])
  const session = out.json?.sessions?.[0] ?? out.json?.migrated?.[0]
  const reasons = (session?.parts ?? []).flatMap(({ changes = [], notes = [] }) => [...changes.map(({ why }) => why), ...notes.map(({ text }) => text)]).filter(reason => reason !== undefined && reason !== '')
  return { ...out, session, reasons }
}

async function age(folder) {
  const when = Date.now() / 1000 - 86_400
  for (const name of await readdir(folder)) await lutimes(join(folder, name), when, when)
}

async function command(home, args) {
  await mkdir(home, { recursive: true })
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1' }
  return new Promise((done) => {
    execFile(binary, args, { env, cwd: home, timeout: 60_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      done({ exit: error === null ? 0 : error.code ?? error.signal, stdout, stderr: stderr.trim(), json: attempt(() => JSON.parse(stdout)).value })
    })
  })
}

function textOf(bytes, encoding) {
  if (encoding === 'plain') return bytes.toString()
  return walkFrames(bytes).frames.map(({ start, end }) => unpack(bytes.subarray(start, end)).toString()).join('')
}

function headerOf(bytes, encoding) {
  return attempt(() => {
    const text = textOf(bytes, encoding)
    return JSON.parse(text.slice(0, text.indexOf('\n')))
  }).value
}

function attempt(work) {
  try {
    return { value: work() }
  } catch (error) {
    return { error: error.message }
  }
}

function count(what) {
  tally[what] = (tally[what] ?? 0) + 1
}
