// Writes a session through the real Session.append, so numbering, freezing and checks are the
// library's. Only ids and words are ours.
const words = text => [{ type: 'text', text }]
const ON_SURFACE = { surfaceOp: 'append' }
const ROUTE = { provider: 'mock', model: 'mock-small' }

export class Author {
  constructor(session) {
    this.session = session
    this.turn = 0
    this.step = 0
    this.starts = new Map()
  }

  log(type, data, intent) {
    return this.session.append(type, data, ...intent === undefined ? [] : [intent])
  }

  at(data = {}) {
    return { turn: this.turn, step: this.step, ...data }
  }

  openTurn(turn = this.turn + 1) {
    this.turn = turn
    this.step = 0
    this.log('turn/start', { turn })
  }

  openStep() {
    this.step += 1
    this.log('step/start', this.at())
  }

  closeStep() {
    this.log('step/end', this.at())
  }

  closeTurn(reason = { kind: 'completed' }) {
    this.log('turn/end', { turn: this.turn, reason })
  }

  user(id, text, source = { kind: 'user' }) {
    return this.log('user/message', { id, role: 'user', content: words(text), source }, ON_SURFACE)
  }

  request(reason = 'initial') {
    this.log('request/header', { header: { config: ROUTE, system: 'Be brief.' }, reason })
  }

  /** Stream an answer piece by piece. Without `finish` the stream breaks off there. */
  stream(pieces, calls = [], finish = true) {
    const seqs = []
    const content = []
    const chunk = value => seqs.push(this.log('assistant/chunk', this.at({ chunk: value })).seq)
    if (pieces.length > 0) {
      const index = content.length
      chunk({ type: 'block-start', index, blockType: 'text' })
      for (const text of pieces) chunk({ type: 'text-delta', index, text })
      if (!finish) return { seqs, content }
      content.push({ type: 'text', text: pieces.join('') })
      chunk({ type: 'block-end', index, block: content[index] })
    }
    for (const call of calls) {
      const index = content.length
      chunk({ type: 'block-start', index, blockType: 'tool-call' })
      for (const part of call.arguments.match(/.{1,9}/gs)) {
        chunk({ type: 'tool-call-delta', index, id: call.id, name: call.name, argumentsDelta: part })
      }
      content.push({ type: 'tool-call', ...call })
      chunk({ type: 'block-end', index, block: content[index] })
    }
    chunk({ type: 'finish', reason: { kind: calls.length > 0 ? 'tool-calls' : 'stop' } })
    return { seqs, content }
  }

  answer(id, pieces, calls = []) {
    const { seqs, content } = this.stream(pieces, calls)
    const message = { id, role: 'assistant', content, source: { kind: 'model', ...ROUTE } }
    return this.log('assistant/message', this.at({ message, usage: { inputTokens: 31, outputTokens: 7 } }), { ...ON_SURFACE, sourceEventSeqs: seqs })
  }

  start(call) {
    const { seq } = this.log('tool/call', this.at({ callId: call.id, name: call.name, arguments: call.arguments }))
    this.starts.set(call.id, seq)
  }

  result(call, text, error) {
    const block = { type: 'tool-result', toolCallId: call.id, content: words(text), isError: error !== undefined }
    const message = { id: `m-${call.id}`, role: 'user', source: { kind: 'tool', callId: call.id }, content: [block] }
    return this.log('tool/result', this.at({ message, ...error === undefined ? {} : { error } }), { ...ON_SURFACE, sourceEventSeqs: [this.starts.get(call.id)] })
  }

  /** Replace everything the model sees by one summary, as the compaction plugin does between turns. */
  compact(id, text) {
    const nodes = [...this.session.surface.nodes]
    const span = { start: nodes[0], end: nodes.at(-1) }
    this.log('compaction/start', { compactionId: id, turn: null })
    this.log('compaction/summary', { compactionId: id, summary: words(text), shadowedRange: span, shadowedSeqs: nodes, shadowedTokenCount: 64, ...ROUTE })
    this.log('user/message', { id: `m-${id}`, role: 'user', content: words(text), source: { kind: 'plugin', plugin: 'compact', compactionId: id } },
      { surfaceOp: { op: 'replace', ...span }, sourceEventSeqs: nodes })
    this.log('compaction/end', { compactionId: id, turn: null })
  }
}

export const call = (id, name, args) => ({ id, name, arguments: JSON.stringify(args) })
