// Where sessions come from: { name, files }. A session is a folder with one of its three files.
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { treeOf } from './home.mjs'
import { HISTORY, LOG, SUMMARY } from './session.mjs'

/** The samples and field cases of a shared folder. All of them can be mended. */
export async function sharedSources(shared) {
  const samples = await namedSources([join(shared, 'oracles', 'grok', 'samples')])
  const field = join(shared, 'field')
  const names = (await readdir(field).catch(() => [])).filter(name => /^F\d+-grok-/.test(name))
  const cases = await Promise.all(names.map(name => namedSources([join(field, name)])))
  const found = [...samples, ...cases.flatMap((sources, n) => sources.map(source => ({ ...source, name: `field/${names[n]}` })))]
  return found.map(source => ({ ...source, safe: true }))
}

/** Paths that the caller named: folders with sessions below, or files of one. */
export async function namedSources(paths) {
  const sources = []
  for (const path of paths.filter(existsSync).map(name => resolve(name))) {
    const top = (await stat(path)).isDirectory() ? path : dirname(path)
    for (const folder of await sessionsIn(top)) sources.push({ name: relative(dirname(top), folder) || basename(folder), files: await treeOf(folder) })
  }
  return sources
}

async function sessionsIn(folder) {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = new Set(entries.filter(entry => entry.isFile()).map(({ name }) => name))
  // Other agents have an events.jsonl and a summary.json too.
  if (files.has(LOG) || files.has(HISTORY) || (files.has(SUMMARY) && files.has('events.jsonl'))) return [folder]
  const below = await Promise.all(entries.filter(entry => entry.isDirectory()).map(({ name }) => sessionsIn(join(folder, name))))
  return below.flat().sort()
}
