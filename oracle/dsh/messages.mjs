// node messages.mjs BINARY [--jobs N] [--every N] [--only WORD] [--keep DIR] [--random N] [--seed N] [--also PATH…]: BINARY exports what
// each session sends, repairs it, and exports it again. Both lists must be the same, and say what the real library would send. --every
// takes one session of N; --only those with WORD in their name; --also adds your own logs and folders of logs. --random N (20) makes
// N sessions of each encoding and version, from the seed on that --seed names.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeDamages } from './lib/damages.mjs'
import { judgeEach } from './lib/each.mjs'
import { ASKED, nextRequest } from './lib/next.mjs'
import { same } from './lib/records.mjs'
import { differences } from './lib/said.mjs'
import { writeSessions } from './lib/sessions.mjs'
import { writeTalks } from './lib/talks.mjs'
import { age, firstLine, settle } from './lib/trial.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' }, every: { type: 'string', default: '1' }, only: { type: 'string', default: '' },
    keep: { type: 'string' }, also: { type: 'string', multiple: true, default: [] },
    random: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' },
  },
})
const [given, ...rest] = positionals
const [jobs, every, random, seed] = [values.jobs, values.every, values.random, values.seed].map(Number)
if (given === undefined || (rest.length > 0 && values.also.length === 0) || !(jobs >= 1 && every >= 1 && random >= 0 && seed >= 0)) {
  console.error('usage: node messages.mjs BINARY [--jobs N] [--every N] [--only WORD] [--keep DIR] [--random N] [--seed N] [--also PATH…]')
  process.exit(2)
}
process.on('unhandledRejection', error => console.error(`behind a list: ${error?.message}`))
const binary = resolve(given)
const REFUSED = 3
const PROVIDERS = ['openai', 'anthropic']
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-messages-')) : resolve(values.keep)
const tally = { compared: 0, refused: 0, 'of a version without library': 0 }
const ended = { passed: 0, failed: 0 }
try {
  const logs = (await sources()).filter(({ name }, n) => name.includes(values.only) && n % every === 0)
  Object.assign(ended, await judgeEach(logs, jobs, scratch, values.keep !== undefined, trial))
} finally {
  if (values.keep === undefined) await rm(scratch, { recursive: true, force: true })
}
console.log(Object.entries(tally).map(([what, count]) => `${count} ${what}`).join(', '))
console.log(`${ended.passed} passed, ${ended.failed} failed`)
process.exit(ended.failed > 0 || ended.passed === 0 ? 1 : 0)

/** Our own sessions, those that say all that can be said, the damages of one, and the caller's. */
async function sources() {
  const at = name => join(scratch, name)
  const placed = (base, item) => ({ ...item, name: item.name ?? item.kind, file: join(base, item.file), root: join(base, item.root) })
  const made = (await writeSessions(at('made'))).map(item => placed(at('made'), item))
  const orchard = made.find(item => item.name === 'orchard.v0.jsonl')
  const damages = (await writeDamages(orchard.file, at('damaged'))).map(item => placed(at('damaged'), item))
  const talks = (await writeTalks(at('talks'), random, seed)).map(item => placed(at('talks'), item))
  const out = [...made, ...talks, ...damages]
  for (const path of [...values.also, ...rest].map(path => resolve(path))) {
    const inside = (await stat(path)).isDirectory() ? (await readdir(path, { recursive: true })).sort().map(name => join(path, name)) : [path]
    for (const file of inside.filter(name => /\.jsonl(\.zstd)?$/.test(name))) {
      const header = await firstLine(file)
      if (header?.type === 'session' && 'createdAt' in header) out.push({ name: file, file })
    }
  }
  return out
}

async function trial(log, home) {
  const root = join(home, '.dsh', 'sessions')
  await mkdir(home, { recursive: true })
  const file = await settle(log, root)
  await age(root)
  const before = await lists(file, home)
  const repair = await run(home, ['repair', file])
  if (repair.exit === REFUSED) {
    tally.refused += 1
    return before.faults
  }
  if (repair.exit !== 0) return [...before.faults, `repair: exit ${repair.exit}: ${repair.stderr}`]
  const after = await lists(file, home)
  const faults = [...before.faults, ...after.faults]
  if (!same(before.lists, after.lists)) faults.push('the list of the session as it lies is not that of the repaired one')
  if (faults.length > 0) return faults
  if (!ASKED.includes((await firstLine(file))?.version)) {
    tally['of a version without library'] += 1
    return faults
  }
  tally.compared += 1
  const real = await nextRequest(file)
  for (const provider of PROVIDERS) faults.push(...differences(real, after.lists[provider], after.lists.system, provider).map(fault => `${provider}: ${fault}`))
  return faults
}

/** The lists for each provider, and the instructions. What is asked for the second time, the instructions of a list that holds them, is the same. */
async function lists(file, home) {
  const out = { lists: {}, faults: [] }
  const read = async (name, args) => {
    const { exit, stdout, stderr } = await run(home, ['export', '--format', 'messages', ...args, file])
    try {
      out.lists[name] = JSON.parse(stdout)
    } catch {
      out.faults.push(`${name}: exit ${exit}, and no list: ${stderr}`)
      return
    }
    if (exit !== 0) out.faults.push(`${name}: exit ${exit}: ${stderr}`)
  }
  for (const provider of PROVIDERS) await read(provider, ['--provider', provider])
  await read('system', ['--provider', 'anthropic', '--system'])
  const inside = out.lists.openai?.filter(message => message.role === 'system').map(message => message.content)
  if (out.faults.length === 0 && !same(inside, out.lists.system)) out.faults.push(`the instructions are ${JSON.stringify(out.lists.system)}, and in the list ${JSON.stringify(inside)}`)
  return out
}

function run(home, args) {
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TMPDIR: scratch }
  return new Promise((done) => {
    execFile(binary, args, { env, cwd: home, timeout: 60_000, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      done({ exit: error === null ? 0 : error.code ?? error.signal, stdout, stderr })
    })
  })
}
