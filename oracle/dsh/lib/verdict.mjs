// What the real library says of one log. The log is copied first; the copy is what gets loaded,
// mended and resumed.
import { copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { deriveEventMessage, interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import { openHost, windClock } from './client.mjs'
import { unpack, walkFrames } from './frames.mjs'
import { readLog } from './later.mjs'
import { encodingOf, logPath } from './place.mjs'
import { lines, textOf } from './records.mjs'

const PATIENCE = 30_000

/**
 * `log` is { name, file, id?, root? }. With `root` the whole sessions root is copied, so that neighbours of
 * the log have their say; without it the log is put alone where its header says it belongs.
 * `inside` carries what check.mjs compares and judge.mjs does not print: the stored events and file records.
 */
export async function judge(log) {
  const scratch = await mkdtemp(join(tmpdir(), 'sessfix-judge-'))
  const verdict = { name: log.name, version: null, loads: false, error: null, events: 0, closers: [], repair: { truncatedTo: null, added: [] }, resume: [], messages: [] }
  const inside = { records: [], events: [] }
  let alarm
  try {
    const bytes = await readFile(log.file)
    const encoding = encodingOf(log.file)
    const header = headerOf(bytes, encoding)
    verdict.version = header?.version ?? null
    windClock()
    const asked = [1, 2, 3].includes(header?.version)
      ? judgeLater(verdict, inside, bytes, encoding)
      : judgeStored(verdict, inside, log, { bytes, encoding, header, scratch })
    await Promise.race([asked, new Promise((_, reject) => { alarm = setTimeout(() => reject(new Error('no answer from the library')), PATIENCE) })])
  } catch (error) {
    Object.assign(verdict, { loads: false, closers: [], error: describe(error, scratch) })
  } finally {
    clearTimeout(alarm)
    await rm(scratch, { recursive: true, force: true })
  }
  return { verdict, inside }
}

/** Version 0 (and anything unreadable): the whole library. */
async function judgeStored(verdict, inside, log, { bytes, encoding, header, scratch }) {
  const id = log.id ?? header?.id ?? basename(dirname(log.file))
  let copy
  if (log.root !== undefined) {
    await cp(log.root, scratch, { recursive: true })
    copy = join(scratch, relative(log.root, log.file))
  } else {
    copy = logPath(scratch, { cwd: header?.cwd, id, encoding })
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
    await copyFile(log.file, copy)
  }
  const host = await openHost(scratch, encoding)
  try {
    verdict.listed = await host.disk.list().then(all => all.some(item => item.id === id), error => describe(error, scratch))
    const stored = await host.disk.readFrom(id, 0)
    const closers = interruptedTurnClosers(stored.events)
    const loaded = await host.disk.load(id)
    const mended = await readFile(copy)
    verdict.repair = difference(bytes, mended, encoding)
    Object.assign(verdict, { loads: true, events: loaded.events.length, closers: plain(closers) })
    inside.events = plain(loaded.events)
    inside.records = lines(mended, encoding)
    const session = await host.resume(id)
    const grown = difference(mended, await readFile(copy), encoding)
    verdict.resume = grown.truncatedTo === null ? grown.added : ['cut', ...grown.added]
    verdict.messages = session.deriveMessages().map(say)
  } finally {
    await host.close()
  }
}

/** Versions 1 to 3: two published decoders. Closers follow the rule of version 0, which these versions kept. */
async function judgeLater(verdict, inside, bytes, encoding) {
  const text = Buffer.from(textOf(bytes, encoding).text, 'latin1').toString('utf8')
  for (const mode of ['strict', 'recoverable']) {
    try {
      if (mode === 'strict' && encoding === 'zstd') assertFrames(bytes)
      const { events, inheritedEventCount } = readLog(text, mode)
      verdict[mode] = { ok: true, events: events.length, inherited: inheritedEventCount }
      if (verdict.loads) continue
      Object.assign(verdict, { loads: true, events: events.length, closers: plain(interruptedTurnClosers(events)) })
      inside.events = plain(events)
      verdict.messages = surfaceOf(events).map(deriveEventMessage).filter(message => message !== null).map(say)
    } catch (error) {
      verdict[mode] = { ok: false, error: describe(error) }
    }
  }
  verdict.error = verdict.loads ? null : verdict.recoverable.error
  inside.records = text.split('\n').filter(line => line !== '').map(line => { try { return JSON.parse(line) } catch { return undefined } })
  inside.open = openEnds(inside.events)
}

function assertFrames(bytes) {
  const { frames, stop } = walkFrames(bytes)
  if (stop !== bytes.length) throw new Error(`no whole frame at byte ${stop}`)
  for (const { start, end } of frames) unpack(bytes.subarray(start, end))
}

/** The turn and the step that the last boundary of each kind left open. */
function openEnds(events) {
  const last = kind => events.findLast(event => event.type === `${kind}/start` || event.type === `${kind}/end`)
  return ['turn', 'step'].filter(kind => last(kind)?.type === `${kind}/start`)
}

/** Events the model sees, in order; the system head is not part of the talk. */
function surfaceOf(events) {
  let shown = []
  for (const event of events) {
    const op = event.surfaceOp
    if (op === 'append') shown.push(event)
    else if (op?.op === 'replace') {
      const from = shown.findIndex(item => item.seq === (op.startSeq ?? op.start))
      const to = shown.findIndex(item => item.seq === (op.endSeq ?? op.end))
      shown = [...shown.slice(0, from), event, ...shown.slice(to + 1)]
    }
  }
  return shown.filter(event => event.type !== 'system/message')
}

function say(message) {
  return { role: message.role, items: message.content.map((block) => {
    if (block.type === 'tool-call') return { call: block.id, name: block.name, arguments: block.arguments }
    if (block.type === 'tool-result') return { result: block.toolCallId, isError: block.isError === true, text: block.content.map(part => part.text ?? '').join('') }
    return { [block.type]: block.text ?? '' }
  }) }
}

/** First line of a log, or undefined. Only used to see the version and to find the place of a lone log. */
function headerOf(bytes, encoding) {
  try {
    const { frames } = walkFrames(bytes)
    const text = encoding === 'zstd' && frames.length > 0 ? unpack(bytes.subarray(0, frames[0].end)) : bytes
    return JSON.parse(text.toString().split('\n', 1)[0])
  } catch {
    return undefined
  }
}

/** How a write changed a file: where it was cut, and the types of the records that came behind. */
function difference(before, after, encoding) {
  let common = 0
  while (common < before.length && common < after.length && before[common] === after[common]) common += 1
  // A new record may begin with the bytes of the torn one it replaces: compare whole frames, whole lines.
  common = encoding === 'zstd'
    ? walkFrames(after).frames.findLast(frame => frame.end <= common)?.end ?? 0
    : after.subarray(0, common).lastIndexOf(10) + 1
  const added = lines(after.subarray(common), encoding)
  return { truncatedTo: common < before.length ? common : null, added: added.map(record => record?.type ?? '?') }
}

const plain = value => JSON.parse(JSON.stringify(value))

/** Errors quote the scratch folder; reports have to be comparable. */
function describe(error, scratch) {
  const text = `${error?.name ?? 'Error'}: ${error?.message ?? error}`
  return scratch === undefined ? text : text.replaceAll(scratch, '<root>')
}
