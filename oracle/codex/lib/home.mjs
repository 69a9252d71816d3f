// The client's folder of a scratch user: put rollouts where it looks for them, see what is there, and what has changed.
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { readName } from './rollouts.mjs'

const DAY = 86_400_000
const ARCHIVE = 'archived_sessions'
/** Zero bytes that stay when a lock is let go. */
const LOCKS = /^(thread-writer-locks|\.tmp)(\/.*\.lock)?$/

/** Files are { name, bytes, archived }. Nothing is being written to them, and their dates say so. */
export async function settle(files, codex) {
  for (const { name, bytes, archived } of files) {
    const folder = archived ? join(codex, ARCHIVE) : join(codex, 'sessions', ...readName(name).date)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, name), bytes)
  }
  await age(codex)
}

/** Everything here is a day old. */
export async function age(codex) {
  const then = new Date(Date.now() - DAY)
  for (const path of await pathsIn(codex)) await utimes(join(codex, path), then, then)
}

/** The rollouts that a home holds, as settle takes them. */
export async function rolloutsIn(codex) {
  const files = []
  for (const path of await pathsIn(codex)) {
    const name = basename(path)
    const archived = path.split(sep)[0] === ARCHIVE
    if (readName(name) && (archived || path.split(sep)[0] === 'sessions')) files.push({ name, archived, path, bytes: await readFile(join(codex, path)) })
  }
  return files
}

/** Path -> bytes. Locks do not count. */
export async function treeOf(codex) {
  const paths = (await pathsIn(codex)).filter(path => !LOCKS.test(path))
  return new Map(await Promise.all(paths.map(async path => [path, await readFile(join(codex, path))])))
}

/** [{ path, how }]: added, changed or removed. */
export function changesOf(before, after) {
  const out = [...after].filter(([path, bytes]) => !before.get(path)?.equals(bytes)).map(([path]) => ({ path, how: before.has(path) ? 'changed' : 'added' }))
  return [...out, ...[...before.keys()].filter(path => !after.has(path)).map(path => ({ path, how: 'removed' }))]
}

async function pathsIn(codex) {
  const entries = await readdir(codex, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => relative(codex, join(entry.parentPath ?? entry.path, entry.name))).sort()
}
