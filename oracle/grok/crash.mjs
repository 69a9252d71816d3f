// node crash.mjs BIN [--jobs N] [--keep DIR] [--only WORD] [--every N]: kills the real client at many moments, lets BIN repair what it left,
// and lets the real client go on with that. One line for each fault; the last line counts. Exit 1 when one failed, or when more
// than a tenth of the moments did not come.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isInstalled } from './lib/client.mjs'
import { forEachOf } from './lib/each.mjs'
import { treeOf } from './lib/home.mjs'
import { Missed, folderOf, lead, placeIn } from './lib/lead.mjs'
import { moments } from './lib/moments.mjs'
import { faultsOfRepair, repairIn } from './lib/proof.mjs'
import { endOf } from './lib/tail.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: '2' }, keep: { type: 'string' }, only: { type: 'string', default: '' }, every: { type: 'string', default: '1' }, verbose: { type: 'boolean', default: false } },
})
const jobs = Number(values.jobs)
const [binary] = positionals
const wrong = positionals.length !== 1 || !(jobs >= 1 && jobs <= 6)
if (wrong || !existsSync(binary) || !isInstalled()) {
  console.error(wrong ? 'usage: node crash.mjs BIN [--jobs 1 to 6] [--keep DIR] [--only WORD] [--every N] [--verbose]' : `crash.mjs: ${isInstalled() ? binary : 'the client'} is not there`)
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-crash-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const TRIES = 4
const tally = { passed: 0, failed: 0, missed: 0 }
await forEachOf(moments.filter(({ name }, n) => name.includes(values.only) && n % Number(values.every) === 0), jobs, async (moment, n) => {
  const folder = join(scratch, `${String(n).padStart(2, '0')}-${moment.name.replace(/[^a-z]+/g, '-')}`)
  const { left, faults = [], missed } = await trial(moment, folder).catch(error => ({ faults: [`no verdict: ${error.stack}`] }))
  tally[missed !== undefined ? 'missed' : faults.length > 0 ? 'failed' : 'passed'] += 1
  if (missed !== undefined) console.log(`MISSED ${moment.name}: ${missed}`)
  for (const fault of faults) console.log(`FAIL ${moment.name}: ${fault}`)
  if (values.verbose && missed === undefined) console.log(`left ${moment.name}: ${left}`)
  if (values.keep === undefined) for (let again = 1; again <= TRIES; again += 1) await rm(`${folder}-${again}`, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`crash: ${tally.passed} passed, ${tally.failed} failed, ${tally.missed} missed`)
process.exit(tally.failed > 0 || tally.missed * 10 > tally.passed ? 1 : 0)

/** A busy machine can let a moment pass. That is no verdict on a repair, but where many do, nothing was tried. */
async function trial(moment, folder) {
  for (let again = 1; ; again += 1) {
    try {
      return await once(moment, `${folder}-${again}`)
    } catch (error) {
      if (!(error instanceof Missed)) throw error
      if (again === TRIES) return { missed: error.message }
    }
  }
}

async function once({ left: expected, steps }, folder) {
  const place = await placeIn(folder)
  for (const step of steps) {
    const faults = step.repair ? await repairIn(resolve(binary), place) : await lead(place, step) ?? []
    if (faults.length > 0) return { faults }
  }
  const left = endOf(await treeOf(folderOf(place)))
  if (expected instanceof RegExp ? !expected.test(left) : expected !== left) throw new Missed(`the client left "${left}"`)
  return { left, faults: await faultsOfRepair(resolve(binary), place) }
}
