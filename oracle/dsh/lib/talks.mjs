// Sessions that say all that can be said, at random, written with the real library: texts of all kinds, thinking, images, calls with
// and without JSON, results of several pieces, results that are shortened later, parts of the talk that are summed up, system
// prompts that change, answers that were cut off.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { openHost, windClock } from './client.mjs'
import { pack } from './frames.mjs'
import { readLog, writeLog } from './later.mjs'
import { logPath } from './place.mjs'
import { CWD } from './scenes.mjs'

/** Writes `count` of each encoding, those that the published upgrade takes in versions 2 and 3, and each once more, torn; gives their index. */
export async function writeTalks(out, count, seed) {
  const index = []
  for (const encoding of ['plain', 'zstd']) {
    const root = join(out, encoding)
    await mkdir(root, { recursive: true, mode: 0o700 })
    windClock()
    const host = await openHost(root, encoding)
    for (let n = 0; n < count; n += 1) {
      const id = `talk-${seed + n}`
      const session = host.sessions.create(id, { meta: { cwd: CWD } })
      await new Talk(session, dice(seed + n)).write(() => host.save(session))
      await host.save(session)
      const file = logPath(root, { cwd: CWD, id, encoding })
      index.push({ name: `${id}.v0.${encoding}`, file: relative(out, file), root: relative(out, root), id })
    }
    await host.close()
  }
  for (const item of index.filter(item => item.name.endsWith('.plain'))) {
    for (const version of [2, 3]) {
      let lines
      try {
        lines = writeLog(readLog(await readFile(join(out, item.file), 'utf8'), 'recoverable', version))
      } catch {
        continue // the published upgrade refuses it
      }
      const zstd = version === 3 && item.name.length % 2 === 0
      const encoding = zstd ? 'zstd' : 'plain'
      const root = join(out, `v${version}-${encoding}`)
      const file = logPath(root, { cwd: CWD, id: item.id, version, encoding })
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, zstd ? Buffer.concat([pack(lines[0]), pack(lines.slice(1).join(''))]) : lines.join(''))
      index.push({ name: `${item.id}.v${version}.${encoding}`, file: relative(out, file), root: relative(out, root), id: item.id })
    }
  }
  return [...index, ...await torn(out, index, seed)]
}

/** Each of the logs, cut somewhere behind its first half. */
async function torn(out, index, seed) {
  const cuts = []
  for (const [n, item] of index.entries()) {
    const bytes = await readFile(join(out, item.file))
    const root = join('torn', String(n))
    const file = join(root, relative(item.root, item.file))
    await mkdir(dirname(join(out, file)), { recursive: true, mode: 0o700 })
    await writeFile(join(out, file), bytes.subarray(0, Math.floor(bytes.length / 2) + dice(seed + n)(Math.floor(bytes.length / 2))))
    cuts.push({ ...item, name: `${item.name} torn`, file, root })
  }
  return cuts
}

/** Numbers below n, the same for one seed always. */
function dice(seed) {
  let state = seed * 2654435761 >>> 0
  return (n) => {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0
    return Math.floor(state / 4294967296 * n)
  }
}

const ROUTE = { provider: 'mock', model: 'mock-small' }
const WORDS = ['Row 3 – watered 🌳', 'two\nlines\n', ' \t', '', '<b>&amp;</b>', '"quoted" \\ back', '\u2028 \u0000 \u001b[31m', '```\n# no heading\n```', 'é'.repeat(300), 'yes']
const INPUTS = ['{}', '{"path":"a.txt"}', ' {"n": 1.0, "big": 12345678901234567890}\n', '{"a":"\\ud800\\u0000","a":2}', '[1,2]', '"text"', 'null', '{"path":', '', '{"deep":{"er":[{}]}}']
const SOURCES = [{ kind: 'user' }, { kind: 'user' }, { kind: 'plugin', plugin: 'reminder' }]
const IMAGE = { type: 'image', attachment: { attachmentId: `sha256:${'ab'.repeat(32)}`, mediaType: 'image/png', bytes: 70, width: 2, height: 2, name: 'x.png' } }
const APPEND = { surfaceOp: 'append' }

class Talk {
  constructor(session, roll) {
    Object.assign(this, { session, roll, turn: 0, step: 0, ids: 0 })
  }

  one(list) { return list[this.roll(list.length)] }
  id(word) { return `${word}-${++this.ids}` }
  text() { return { type: 'text', text: this.one(WORDS) } }
  log(type, data, intent) { return this.session.append(type, data, ...intent === undefined ? [] : [intent]) }
  at(data = {}) { return { turn: this.turn, step: this.step, ...data } }
  some(most, make) { return Array.from({ length: this.roll(most + 1) }, make) }

  async write(save) {
    const turns = 1 + this.roll(5)
    while (this.turn < turns) {
      this.turn += 1
      this.step = 0
      this.log('turn/start', { turn: this.turn })
      for (let steps = 1 + this.roll(3); steps > 0; steps -= 1) this.oneStep(steps === 1)
      this.log('turn/end', { turn: this.turn, reason: this.one([{ kind: 'completed' }, { kind: 'aborted', reason: { kind: 'user' } }]) })
      if (this.roll(3) === 0) this.sumUp()
      if (this.roll(3) === 0) this.shorten()
      if (this.roll(2) === 0) await save()
    }
  }

  oneStep(last) {
    this.step += 1
    this.log('step/start', this.at())
    if (this.step === 1 || this.roll(4) === 0) this.user()
    if (this.ids === 1 || this.roll(3) === 0) this.header()
    if (this.roll(6) === 0) this.stream([{ type: 'text', text: 'lost' }], { kind: 'error', failure: { message: 'busy', code: 'OVERLOADED' } })
    this.answer(last ? 0 : 3)
    this.log('step/end', this.at())
  }

  user() {
    this.log('user/message', { id: this.id('u'), role: 'user', content: [...this.some(2, () => this.text()), ...this.roll(4) === 0 ? [IMAGE] : []], source: this.one(SOURCES) }, APPEND)
  }

  header() {
    const system = this.one(['Be brief.', 'Be brief.', 'Be long.', undefined])
    this.log('request/header', { header: { config: ROUTE, ...system === undefined ? {} : { system } }, reason: this.one(['initial', 'change', 'resume']) })
  }

  stream(content, reason) {
    const seqs = []
    const chunk = value => seqs.push(this.log('assistant/chunk', this.at({ chunk: value })).seq)
    for (const [index, block] of content.entries()) {
      chunk({ type: 'block-start', index, blockType: block.type })
      if (block.type === 'text' && block.text !== '') chunk({ type: 'text-delta', index, text: block.text })
      if (block.type === 'reasoning') chunk({ type: 'reasoning-delta', index, text: block.text })
      chunk({ type: 'block-end', index, block })
    }
    chunk({ type: 'finish', reason })
    return seqs
  }

  answer(most) {
    const calls = this.some(most, () => ({ type: 'tool-call', id: this.id('call'), name: this.one(['bash', 'read', 'mcp__x__y']), arguments: this.one(INPUTS) }))
    const content = [...this.roll(2) === 0 ? [{ type: 'reasoning', text: 'so' }] : [], ...this.some(2, () => this.text()), ...calls]
    const seqs = this.stream(content, { kind: calls.length > 0 ? 'tool-calls' : 'stop' })
    const message = { id: this.id('a'), role: 'assistant', content, source: { kind: 'model', ...ROUTE } }
    const interrupted = calls.length === 0 && this.roll(4) === 0
    this.log('assistant/message', this.at({ message, usage: { inputTokens: 3, outputTokens: 1 }, ...interrupted ? { interrupted: true } : {} }), { ...APPEND, sourceEventSeqs: seqs })
    const started = calls.map(call => this.log('tool/call', this.at({ callId: call.id, name: call.name, arguments: call.arguments })).seq)
    const order = calls.map((_, n) => n)
    if (this.roll(2) === 0) order.reverse()
    for (const n of order) this.result(calls[n].id, started[n])
  }

  result(call, started) {
    const failed = this.roll(4) === 0
    const content = [...this.some(2, () => this.text()), ...this.roll(6) === 0 ? [IMAGE] : []]
    const block = { type: 'tool-result', toolCallId: call, content, isError: failed }
    const message = { id: this.id('r'), role: 'user', source: { kind: 'tool', callId: call }, content: [block] }
    this.log('tool/result', this.at({ message, ...failed ? { error: { name: 'ToolError', code: 'EXIT_1' } } : {} }), { ...APPEND, sourceEventSeqs: [started] })
  }

  /** A part of what the model sees, from one message of the user up to the one in front of another, becomes a summary; or all of it. */
  sumUp() {
    const nodes = [...this.session.surface.nodes]
    const starts = nodes.flatMap((seq, n) => this.session.events[seq].type === 'user/message' ? [n] : [])
    if (starts.length === 0) return
    const from = this.roll(starts.length)
    const behind = [...starts.slice(from + 1), nodes.length]
    const gone = nodes.slice(starts[from], this.one(behind))
    const [id, span] = [this.id('cmp'), { start: gone[0], end: gone.at(-1) }]
    const summary = [{ type: 'text', text: `sum of ${gone.length}` }]
    this.log('compaction/start', { compactionId: id, turn: null })
    this.log('compaction/summary', { compactionId: id, summary, shadowedRange: span, shadowedSeqs: gone, shadowedTokenCount: 9, ...ROUTE })
    this.log('user/message', { id: this.id('m'), role: 'user', content: summary, source: { kind: 'plugin', plugin: 'compact', compactionId: id } },
      { surfaceOp: { op: 'replace', ...span }, sourceEventSeqs: gone })
    this.log('compaction/end', { compactionId: id, turn: null })
  }

  /** A result is put into fewer words where it stands. */
  shorten() {
    const nodes = this.session.surface.nodes.filter(seq => this.session.events[seq].type === 'tool/result')
    if (nodes.length === 0) return
    const seq = this.one(nodes)
    const data = structuredClone(this.session.events[seq].data)
    data.message.content[0].content = [{ type: 'text', text: 'shortened' }]
    this.log('compaction/prune', { shadowedRange: { start: seq, end: seq }, shadowedSeqs: [seq], shadowedTokenCount: 9 })
    this.log('tool/result', data, { surfaceOp: { op: 'replace', start: seq, end: seq }, sourceEventSeqs: [seq] })
  }
}
