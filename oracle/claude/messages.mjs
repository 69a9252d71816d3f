// node messages.mjs BIN [--shared DIR] [--also PATH…] [--jobs N] [--every N] [--only WORD] [--keep DIR]: lets BIN export each session that
// is healthy, or that it repairs, as messages, and the real client resume it: the list must be what the client sends. Of a damaged one the list
// must be the same before and after the repair. One line for each fault; the last line counts sessions. Exit 1 when one failed.
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { begin } from './lib/begin.mjs'
import { PROMPT } from './lib/client.mjs'
import { eachOf } from './lib/each.mjs'
import { plainRecords } from './lib/records.mjs'
import { run } from './lib/run.mjs'
import { namedSources, sharedSources } from './lib/sources.mjs'
import { untold } from './lib/told.mjs'
import { age, ask, differences, settle, treeOf } from './lib/trial.mjs'

const { values, binary, more, jobs, program, scratch } = await begin('messages')

const NO_ID = '00000000-0000-4000-8000-000000000001'
const tally = { passed: 0, failed: 0 }
const left = { refused: 0, silent: 0, aside: 0 }
const shared = values.shared !== undefined && existsSync(values.shared) ? await sharedSources(resolve(values.shared), scratch) : []
const sources = [...shared, ...await namedSources([...values.also, ...more])]
await eachOf(sources.filter(({ name }, n) => name.includes(values.only) && n % Number(values.every) === 0), jobs, async (source, n) => {
  const folder = join(scratch, String(n).padStart(3, '0'))
  const faults = await trial(source, folder).catch(error => [`no verdict: ${error.message}`])
  if (typeof faults === 'string') left[faults] += 1
  else tally[faults.length > 0 ? 'failed' : 'passed'] += 1
  if (typeof faults !== 'string') for (const fault of faults) console.log(`FAIL ${source.name}: ${fault}`)
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})
console.log(`messages: left out are ${left.refused} sessions that are refused, ${left.silent} that say nothing, and ${left.aside} logs of sub-agents`)
console.log(`messages: ${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0)

/** Faults, or a word for what is not judged. */
async function trial(source, folder) {
  const id = /"sessionId":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(await readFile(source.file, 'latin1'))?.[1] ?? NO_ID
  const home = join(folder, 'sessfix', 'home')
  const file = await settle(source.file, home, id)
  const call = async (...args) => {
    await age(home)
    return run(binary, [...args, file], { env: { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TMPDIR: dirname(home) }, cwd: home, seconds: 60 })
  }
  const exported = () => call('export', '--format', 'messages', '--provider', 'anthropic')

  const nodes = plainRecords(await readFile(file)).filter(record => record.uuid !== undefined)
  if (nodes.length > 0 && nodes.every(record => record.isSidechain)) return 'aside'

  const before = await treeOf(home)
  const damaged = await exported()
  const faults = differences(before, await treeOf(home)).map(text => `export ${text}`)
  const repair = await call('repair')
  if (repair.status === 3) return 'refused'
  if (repair.status !== 0) return [...faults, `repair ends with ${repair.status}: ${repair.err.slice(0, 200)}`]
  const mended = await exported()
  if (mended.status !== 0) return [...faults, `export ends with ${mended.status}: ${mended.err.slice(0, 200)}`]
  if (damaged.status !== 0 || damaged.out !== mended.out) faults.push(`before its repair the session is told otherwise, with status ${damaged.status}: ${firstOther(damaged.out, mended.out)}`)
  const list = JSON.parse(mended.out)
  if (list.length === 0) return faults.length > 0 ? faults : 'silent'

  const answer = await ask(home, id, join(folder, 'client'), { program })
  const main = answer.requests.find(request => request.main)
  if (main === undefined) return [...faults, `the client does not resume it: ${answer.err.slice(0, 200)}`]
  const added = plainRecords(answer.after.subarray(answer.before.length)).filter(({ type, isApiErrorMessage }) => (type === 'user' || type === 'assistant') && !isApiErrorMessage)
  return [...faults, ...untold(list, main.messages, added.map(record => record.message), PROMPT)]
}

function firstOther(a, b) {
  const lines = [a.split('\n'), b.split('\n')]
  const at = lines[0].findIndex((line, n) => line !== lines[1][n])
  return at < 0 ? 'one is longer' : `${lines[0][at].slice(0, 100)} became ${String(lines[1][at]).slice(0, 100)}`
}
