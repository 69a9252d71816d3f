// Forks of logs where OpenClaw keeps them. Its releases that go on in files are not asked; its doctor, which takes files over, is.
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { sessfix } from './binary.mjs'
import { placeIn } from './client.mjs'
import { isHeader, linesOf, wholeRecords } from './records.mjs'
import { pairingFaults } from './compare.mjs'
import { turnsOfRecord } from './turns.mjs'

/** Logs of OpenClaw in folders: { name, bytes }. */
export async function openclawSources(folders) {
  const sources = []
  for (const folder of folders) {
    for (const path of (await readdir(folder, { recursive: true })).filter(name => /agents\/[^/]+\/sessions\/[^/]+\.jsonl$/.test(name)).sort()) {
      sources.push({ name: `openclaw/${path}`, bytes: await readFile(join(folder, path)) })
    }
  }
  return sources
}

/** Forks a log behind each of its entries. `report` is told of each place; what comes back are children for the doctor. */
export async function openclawForks(binary, { name, bytes }, folder, report) {
  const place = await placeIn(folder)
  const store = join(place.home, '.openclaw', 'agents', 'main', 'sessions')
  await mkdir(store, { recursive: true })
  const records = linesOf(bytes).map(({ value }) => value)
  const head = records.find(isHeader)
  const file = join(store, `${head.id}.jsonl`)
  await writeFile(file, bytes)
  if ((await sessfix(binary, place, 'verify', file)).status !== 0) return []
  const byId = new Map(records.filter(row => row.id !== head.id).map(row => [row.id, row]))
  const children = []
  for (const [n, row] of records.entries()) {
    if (isHeader(row)) continue
    const way = []
    for (let at = row; at !== undefined; at = byId.get(at.parentId)) way.unshift(at)
    const turns = way.flatMap(turnsOfRecord)
    const why = row.type === 'leaf' ? /cut at that one/ : turns.length === 0 ? /empty/ : pairingFaults(turns, { sent: false }).length > 0 ? /unanswered/ : undefined
    const made = await sessfix(binary, place, 'fork', file, ['--at', `line:${n + 1}`])
    const faults = (await readFile(file)).equals(bytes) ? [] : ['the parent was changed']
    const child = made.report.child?.path
    if (why !== undefined) {
      if (made.status !== 3 || !why.test(made.report.refusal)) faults.push(`is not refused for ${why}, but ends with ${made.status}: ${made.report.refusal ?? made.err}`)
    } else if (made.status !== 0) faults.push(`ends with ${made.status}: ${made.report.refusal ?? made.err}`)
    else {
      const text = await readFile(child)
      const [own, ...rest] = wholeRecords(text).map(({ value }) => value)
      if (own.parentSession !== file || own.id !== made.report.child.id || child !== join(store, `${own.id}.jsonl`)) faults.push(`the header is ${JSON.stringify(own)} in ${child}`)
      if (!isDeepStrictEqual(rest, way)) faults.push(`it has ${rest.length} entries of ${way.length}, or others`)
      if ((await sessfix(binary, place, 'verify', child)).status !== 0) faults.push('verify finds something in the child')
      children.push({ name: `${name} line ${n + 1}`, bytes: text })
    }
    if (child !== undefined) await rm(child)
    if ((await readdir(store)).length !== 1) faults.push(`left beside it: ${await readdir(store)}`)
    report(`line ${n + 1}`, faults)
  }
  return children
}
