// One session file: sessfix verifies and repairs a copy of it in a home of its own, then the client resumes the result.
import { existsSync } from 'node:fs'
import { copyFile, cp, lutimes, mkdir, readFile, readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { resume } from './client.mjs'
import { faultsOf } from './compare.mjs'
import { wholeRecords } from './records.mjs'
import { run } from './run.mjs'
import { wantedOf } from './wanted.mjs'

const DAY = 86_400
const START = Date.now() / 1000
const NO_ID = '00000000-0000-4000-8000-000000000001'

/** { outcome: 'passed' | 'refused' | 'failed', faults } */
export async function runTrial(binary, source, folder) {
  const input = await readFile(source.file)
  const id = /"sessionId":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(input.toString('latin1'))?.[1] ?? NO_ID
  const home = join(folder, 'sessfix', 'home')
  const file = await settle(source.file, home, id)
  const tree = await treeOf(home)
  const call = async (command) => {
    await age(home)
    const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', TMPDIR: join(folder, 'sessfix') }
    return run(binary, [command, '--json', file], { env, cwd: home, seconds: 60 })
  }

  const faults = []
  const verify = await call('verify')
  faults.push(...differences(tree, await treeOf(home)).map(text => `verify ${text}`))
  if (verify.status === null) return verdict('failed', [...faults, `verify: ${verify.err.slice(0, 200)}`])
  const repair = await call('repair')
  const changes = differences(tree, await treeOf(home))
  if (repair.status === 3) return verdict('refused', [...faults, ...changes.map(text => `refused, but ${text}`)])
  if (repair.status !== 0) return verdict('failed', [...faults, `repair ends with ${repair.status}: ${repair.err.slice(0, 200)}`])
  const own = relative(home, file)
  faults.push(...changes.filter(text => verify.status === 0 || text !== `changed ${own}`).map(text => `repair ${text}`))

  const wanted = wantedOf(wholeRecords(input))
  // Nothing was said, or nothing of it is left: the client has nothing to resume and says so.
  if (wanted.length === 0) return verdict('passed', faults)
  return verdict('passed', [...faults, ...faultsOf(wanted, await ask(home, id, join(folder, 'client')))])
}

const verdict = (outcome, faults) => ({ outcome: faults.length > 0 ? 'failed' : outcome, faults })

/** The client resumes a copy of the home. A busy machine can starve it once; twice is a verdict. */
export async function ask(home, id, folder, options) {
  const once = async () => {
    await rm(folder, { recursive: true, force: true })
    await cp(join(home, '.claude', 'projects'), join(folder, 'home', '.claude', 'projects'), { recursive: true, preserveTimestamps: true })
    return resume(folder, id, options)
  }
  const first = await once()
  return first.status === null ? once() : first
}

/** Copy the file to where the client keeps it, with the folder of its sub-agents. */
export async function settle(from, home, id) {
  const project = join(home, '.claude', 'projects', '-home-dev-project')
  await mkdir(project, { recursive: true, mode: 0o700 })
  const file = join(project, `${id}.jsonl`)
  await copyFile(from, file)
  const beside = from.replace(/\.jsonl$/, '')
  if (existsSync(beside)) await cp(beside, join(project, id), { recursive: true })
  return file
}

/** Nothing here is being written to, and the dates say so. */
export async function age(home) {
  for (const entry of await readdir(home, { recursive: true })) await lutimes(join(home, entry), START - DAY, START - DAY)
}

/** Path -> bytes of everything in the client's own folder. What sessfix keeps elsewhere is its own affair. */
export async function treeOf(home) {
  const tree = new Map()
  for (const entry of await readdir(join(home, '.claude'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    if (entry.isFile()) tree.set(relative(home, path), await readFile(path))
  }
  return tree
}

export function differences(before, after) {
  const out = []
  for (const [path, bytes] of after) if (!before.get(path)?.equals(bytes)) out.push(`${before.has(path) ? 'changed' : 'left behind'} ${path}`)
  for (const path of before.keys()) if (!after.has(path)) out.push(`removed ${path}`)
  return out
}
