// The client's folder of a scratch user: put a session where it looks for it, see what is there, and what has changed.
import { mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

const DAY = 86_400_000

/** name -> bytes of every file below. Locks are empty, stay when they are let go, and do not count. */
export async function treeOf(folder) {
  const names = (await pathsIn(folder)).map(path => relative(folder, path).split(sep).join('/')).filter(name => !name.endsWith('.lock'))
  // A client at work renames files under our eyes.
  const entries = await Promise.all(names.sort().map(async name => [name, await readFile(join(folder, name)).catch(() => undefined)]))
  return new Map(entries.filter(([, bytes]) => bytes !== undefined))
}

/** Make the folder hold these files and no others, all a day old: nothing is being written to them. */
export async function settle(files, folder) {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [name, bytes] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), bytes)
  }
  await age(folder)
}

export async function age(folder) {
  const then = new Date(Date.now() - DAY)
  for (const path of await pathsIn(folder)) await utimes(path, then, then)
}

/** [{ name, how }]: added, changed or removed. */
export function changesOf(before, after) {
  const out = [...after].filter(([name, bytes]) => !before.get(name)?.equals(bytes)).map(([name]) => ({ name, how: before.has(name) ? 'changed' : 'added' }))
  return [...out, ...[...before.keys()].filter(name => !after.has(name)).map(name => ({ name, how: 'removed' }))]
}

async function pathsIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath ?? entry.path, entry.name))
}
