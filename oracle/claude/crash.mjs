// node crash.mjs BIN [--jobs N] [--keep DIR] [--only WORD] [--every N]: kills the real client at many moments, lets BIN repair what it left,
// and lets the real client resume that. One line for each fault; the last line counts. Exit 1 when one failed, or when more
// than a tenth of the moments did not come.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { eachOf } from './lib/each.mjs'
import { Missed, agentFiles, lead, placeIn, ranIn } from './lib/lead.mjs'
import { moments } from './lib/moments.mjs'
import { faultsOfRepair, repairIn } from './lib/proof.mjs'
import { wholeRecords } from './lib/records.mjs'
import { endOf, unwritten } from './lib/tail.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: '2' }, keep: { type: 'string' }, only: { type: 'string', default: '' }, every: { type: 'string', default: '1' } },
})
const jobs = Number(values.jobs)
if (positionals.length !== 1 || !(jobs >= 1 && jobs <= 4)) {
  console.error('usage: node crash.mjs BIN [--jobs 1 to 4] [--keep DIR] [--only WORD] [--every N]')
  process.exit(2)
}
const binary = resolve(positionals[0])
if (!existsSync(binary)) {
  console.error(`crash.mjs: ${binary} is not there`)
  process.exit(2)
}
const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'sessfix-crash-')) : resolve(values.keep)
await mkdir(scratch, { recursive: true })
if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const TRIES = 4
const tally = { passed: 0, failed: 0, missed: 0 }
await eachOf(moments.filter(({ name }, n) => name.includes(values.only) && n % Number(values.every) === 0), jobs, async (moment, n) => {
  const folder = join(scratch, `${String(n).padStart(2, '0')}-${moment.name.replace(/[^a-z]+/g, '-')}`)
  const { faults = [], missed } = await trial(moment, folder, n).catch(error => ({ faults: [`no verdict: ${error.message}`] }))
  tally[missed !== undefined ? 'missed' : faults.length > 0 ? 'failed' : 'passed'] += 1
  if (missed !== undefined) console.log(`MISSED ${moment.name}: ${missed}`)
  for (const fault of faults) console.log(`FAIL ${moment.name}: ${fault}`)
  if (values.keep === undefined) for (let again = 1; again <= TRIES; again += 1) await rm(`${folder}-${again}`, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`crash: ${tally.passed} passed, ${tally.failed} failed, ${tally.missed} missed`)
process.exit(tally.failed > 0 || tally.missed * 10 > tally.passed ? 1 : 0)

/** A busy machine can let a moment pass. That is no verdict on a repair, but where many do, nothing was tried. */
async function trial(moment, folder, n) {
  for (let again = 1; ; again += 1) {
    try {
      return { faults: await once(moment, `${folder}-${again}`, n) }
    } catch (error) {
      if (!(error instanceof Missed)) throw error
      if (again === TRIES) return { missed: error.message }
    }
  }
}

async function once(moment, folder, n) {
  const place = await placeIn(join(folder, 'killed'), `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`)
  for (const step of moment.steps) {
    const refused = step.repair ? await repairIn(binary, place) : await lead(place, step, step.act)
    if (refused.length > 0) return refused
  }
  const ran = await ranIn(place)
  const left = await leftIn(place, ran)
  if (typeof moment.left === 'string' ? left !== moment.left : !moment.left.test(left)) throw new Missed(`the client left "${left}"`)
  return faultsOfRepair(binary, place, ran, folder)
}

/** What is on disk, in words: 'open s, call; agent: open a, call'. At the end the calls that ran and are in no record. */
async function leftIn(place, ran) {
  const read = async file => wholeRecords(await readFile(file).catch(() => Buffer.alloc(0)))
  const own = await read(place.file)
  const agents = await Promise.all((await agentFiles(place.agents)).map(read))
  const parts = [endOf(own), ...agents.map(records => `agent: ${endOf(records)}`).sort()]
  const lost = unwritten(ran, [own, ...agents])
  return [...parts, ...lost.length > 0 ? [`${lost.join(' ')} unwritten`] : []].join('; ')
}
