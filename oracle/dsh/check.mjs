// node check.mjs BINARY [--keep DIR] [--jobs N] [--only WORD] [--also PATH…]: the differential run. Makes sessions
// and damages, lets BINARY verify and repair a copy of each, and holds the result against the real library.
// --only takes the logs with WORD in their name.
import { cpus, tmpdir } from 'node:os'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compare } from './lib/compare.mjs'
import { writeDamages } from './lib/damages.mjs'
import { eachOf } from './lib/each.mjs'
import { writeSessions } from './lib/sessions.mjs'
import { firstLine, runTrial } from './lib/trial.mjs'

process.on('unhandledRejection', error => console.error(`behind a verdict: ${error?.message}`))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'string' }, jobs: { type: 'string' }, only: { type: 'string', default: '' }, also: { type: 'string', multiple: true } },
})
const [binary, ...more] = positionals
if (binary === undefined || (more.length > 0 && values.also === undefined)) {
  console.error('usage: node check.mjs BINARY [--keep DIR] [--jobs N] [--only WORD] [--also PATH…]')
  process.exit(2)
}
const scratch = values.keep ?? await mkdtemp(join(tmpdir(), 'sessfix-check-'))
const logs = [...await made(), ...await given([...values.also ?? [], ...more])].filter(log => log.name.includes(values.only))
const trials = await eachOf(logs, Number(values.jobs ?? Math.max(4, cpus().length)), (log, n) => {
  return runTrial(resolve(binary), log, join(scratch, 'homes', String(n).padStart(3, '0')))
})

let failed = 0
const asides = []
const tally = {}
for (const trial of trials) {
  const { outcome, faults, notes } = await compare(trial)
  tally[outcome] = (tally[outcome] ?? 0) + 1
  if (faults.length > 0) failed += 1
  for (const fault of faults) console.log(`FAIL ${trial.log.name}: ${fault}`)
  for (const note of notes) asides.push(`${trial.log.name}: ${note}`)
}
for (const line of asides) console.log(line)
console.log(Object.entries(tally).map(([outcome, count]) => `${count} ${outcome}`).join(', '))
if (values.keep === undefined) await rm(scratch, { recursive: true, force: true })
console.log(`${logs.length - failed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)

/** Our own sessions, their torn later versions, and the damages of one of them. */
async function made() {
  const sessions = join(scratch, 'sessions')
  const damaged = join(scratch, 'damaged')
  const index = (await writeSessions(sessions)).map(item => absolute(sessions, item))
  const whole = index.find(item => item.name === 'orchard.v0.jsonl')
  const damages = (await writeDamages(whole.file, damaged)).map(item => absolute(damaged, { ...item, name: item.kind }))
  const torn = []
  for (const item of index.filter(item => item.version > 0)) {
    const bytes = await readFile(item.file)
    const file = join(scratch, 'torn', item.name, basename(item.file))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes.subarray(0, bytes.length - 23))
    // A whole migrated file is one frame: torn, it loses the inherited part that a fork child cannot do without.
    const bare = item.encoding === 'zstd' && item.id === 'orchard-fork'
    torn.push({ name: `${item.name} torn`, file, expect: bare ? undefined : 'repaired' })
  }
  return [...index, ...damages, ...torn]
}

function absolute(base, item) {
  return { ...item, file: join(base, item.file), root: join(base, item.root) }
}

/** Logs that the caller named. A file that does not look like one of ours is skipped, and said so. */
async function given(paths) {
  const out = []
  for (const path of paths) {
    const files = (await stat(path)).isDirectory() ? (await readdir(path, { recursive: true })).sort().map(name => join(path, name)) : [path]
    for (const file of files.filter(name => /\.jsonl(\.zstd?)?$/.test(name))) {
      const header = await firstLine(file)
      if (header?.type === 'session' && 'createdAt' in header) out.push({ name: file, file: resolve(file) })
      else console.log(`skipped, no readable header: ${file}`)
    }
  }
  return out
}
