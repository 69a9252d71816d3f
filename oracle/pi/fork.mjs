// node fork.mjs BIN [PATH…] [--shared DIR] [--doctor DIR] [--only WORD] [--jobs N] [--every N] [--keep DIR] [--verbose]: lets BIN fork healthy sessions at every entry, and
// holds each child against what the real client makes of the same place. One line for each fault; the last line counts. Exit 1 when one failed.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { forkFaults } from './lib/branches.mjs'
import { areInstalled } from './lib/client.mjs'
import { doctorFaults, doctorIn } from './lib/doctor.mjs'
import { forEachOf } from './lib/each.mjs'
import { endGuests } from './lib/guests.mjs'
import { endLookers } from './lib/look.mjs'
import { openclawForks, openclawSources } from './lib/openclaw.mjs'
import { healthySources } from './lib/sources.mjs'

const { values, binary, paths, jobs, every, scratch } = await begin('fork', areInstalled, { doctor: { type: 'string' } }, ' [--doctor DIR]')

const tally = { passed: 0, failed: 0, sessions: 0, children: 0, refused: 0 }
const sources = (await healthySources(values.shared, paths)).filter(({ name }) => name.includes(values.only))
await forEachOf(sources, jobs, async (source, n) => {
  const folder = join(scratch, `${String(n).padStart(2, '0')}-${source.name.replace(/[^\w.]+/g, '-').slice(-60)}`)
  const report = (place, faults) => {
    tally[faults.length > 0 ? 'failed' : 'passed'] += 1
    for (const fault of faults) console.log(`FAIL ${source.name} ${place}: ${fault}`)
    if (values.verbose && faults.length === 0) console.log(`passed ${source.name} ${place}`)
  }
  const seen = await forkFaults(resolve(binary), source, folder, every, report).catch(error => report('', [`no verdict: ${error.stack}`]))
  if (seen !== undefined) tally.sessions += 1
  tally.children += seen?.children ?? 0
  tally.refused += seen?.refused ?? 0
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
endGuests()
endLookers()
await openclaw()
console.log(`fork: ${tally.sessions} sessions, ${tally.children} children, ${tally.refused} places refused`)
console.log(`fork: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.children === 0 ? 1 : 0)

/** Logs of OpenClaw, and what its doctor says of their children. */
async function openclaw() {
  const folders = [...paths, ...values.shared === undefined ? [] : [join(resolve(values.shared), 'oracles', 'pi', 'samples')]]
  const children = []
  for (const [n, source] of (await openclawSources(folders)).filter(({ name }) => name.includes(values.only)).entries()) {
    const made = await openclawForks(resolve(binary), source, join(scratch, `openclaw-${n}`), (place, faults) => {
      tally[faults.length > 0 ? 'failed' : 'passed'] += 1
      for (const fault of faults) console.log(`FAIL ${source.name} ${place}: ${fault}`)
      if (values.verbose && faults.length === 0) console.log(`passed ${source.name} ${place}`)
    })
    children.push(...made)
    tally.sessions += 1
    tally.children += made.length
  }
  const program = doctorIn(values.doctor)
  if (children.length === 0) return
  if (program === undefined) return console.log('SKIPPED: the doctor of openclaw is not installed')
  const faults = await doctorFaults(program, children, join(scratch, 'doctor'))
  for (const fault of faults) console.log(`FAIL ${fault}`)
  tally.failed += faults.length
  console.log(`the doctor of openclaw was asked about ${children.length} children`)
}
