// Where sessions come from: { name, bytes } and what is known of them: the healthy bytes, and what the kind of damage says.
import { readFile, readdir, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { healthy } from './healthy.mjs'
import { kinds } from './kinds.mjs'
import { page } from './page.mjs'
import { isHeader, linesOf, wholeRecords } from './records.mjs'

/** Our own kinds of damage. */
export function ownSources() {
  return Object.entries(kinds).flatMap(([session, list]) => Object.entries(list).map(([kind, damage]) => {
    const sheet = page(healthy[session])
    const made = damage(sheet)
    const { refuse = false, clean = false, whole = false, without = [], adds = [] } = damage
    return { name: `${session}/${kind}`, bytes: Buffer.isBuffer(made) ? made : sheet.bytes(), healthy: page(healthy[session]).bytes(), refuse, clean, whole, adds, without: without.map(name => healthy[session].get(name)) }
  }))
}

/** What the client showed of a damaged sample and rightly shows no more: it stands on another branch of the session. */
const ELSEWHERE = { 'damaged/09-duplicate-id-conflict': ['Other answer'] }

/** Samples, damaged samples, and cases from the field, of which some say what the verdict must be. */
export async function sharedSources(shared) {
  const samples = join(shared, 'oracles', 'pi', 'samples')
  const sources = [...await sessionsIn('samples', samples), ...await sessionsIn('damaged', join(samples, 'damaged'))].filter(({ name }) => !/harness-/.test(name))
    .map(source => ({ ...source, elsewhere: ELSEWHERE[source.name] }))
  const field = join(shared, 'field')
  for (const name of (await readdir(field).catch(() => [])).sort()) {
    const expected = await readFile(join(field, name, 'expect.json'), 'utf8').then(JSON.parse, () => ({}))
    if (!['pi', 'openclaw'].includes(expected.system)) continue
    for (const input of expected.inputs.filter(input => input.endsWith('.jsonl'))) {
      // A verdict on an index is none on the logs beside it.
      const verdict = expected.system === 'pi' ? expected.verdict : undefined
      sources.push({ name: `field/${name}/${basename(input)}`, bytes: await readFile(join(field, name, input)), verdict })
    }
  }
  return sources
}

/** Sessions that nothing was done to: our own, samples, damaged ones that may be clean all the same, and those that the caller named. */
export async function healthySources(shared, paths) {
  const samples = shared === undefined ? undefined : join(resolve(shared), 'oracles', 'pi', 'samples')
  return [
    ...Object.entries(healthy).map(([name, rows]) => ({ name: `healthy/${name}`, bytes: page(rows).bytes() })),
    ...samples === undefined ? [] : [...await sessionsIn('samples', samples), ...await sessionsIn('damaged', join(samples, 'damaged'))].filter(({ name }) => !/harness-/.test(name)),
    ...await namedSources(paths, count => console.log(`left out: ${count} logs that are not of this client`)),
  ]
}

/** Samples of AgentHarness. */
export const harnessSources = async shared => shared === undefined ? [] : (await sessionsIn('samples', join(resolve(shared), 'oracles', 'pi', 'samples'))).filter(({ name, bytes }) => /harness-/.test(name) && bytes.subarray(0, 100).includes('"kind":"header"'))

async function sessionsIn(word, folder) {
  const names = existsSync(folder) ? (await readdir(folder)).filter(name => name.endsWith('.jsonl')).sort() : []
  return Promise.all(names.map(async name => ({ name: `${word}/${name.replace('.jsonl', '')}`, bytes: await readFile(join(folder, name)) })))
}

/** Files that the caller named, and all below folders. `leftOut` is told how many logs were none of this client. */
export async function namedSources(paths, leftOut) {
  const sources = []
  let others = 0
  for (const path of paths) {
    const isFolder = (await stat(path)).isDirectory()
    const names = isFolder ? (await readdir(path, { recursive: true })).filter(name => name.endsWith('.jsonl')).sort().map(name => join(path, name)) : [path]
    for (const file of names) {
      const bytes = await readFile(file).catch(() => Buffer.alloc(0))
      if (isSession(bytes)) sources.push({ name: `also/${isFolder ? file.slice(path.length + 1) : basename(file)}`, bytes })
      else others += 1
    }
  }
  if (others > 0) leftOut(others)
  return sources
}

/** By a header as pi writes it, or by entries that hang under each other. */
function isSession(bytes) {
  if (bytes.length > 32 * 1024 * 1024) return false
  if (linesOf(bytes.subarray(0, 100_000)).some(({ value }) => isHeader(value) && typeof value.cwd === 'string' && 'timestamp' in value)) return true
  return wholeRecords(bytes.subarray(0, 100_000)).some(({ value }) => value.type === 'message' && 'parentId' in value && 'id' in value && typeof value.message?.role === 'string' && !('sessionId' in value) && !('kind' in value))
}
