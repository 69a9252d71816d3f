// One healthy plain v0 log, damaged in every way that was ever seen or feared. Each damage becomes a
// sessions root of its own. `expect` says what sessfix must answer: 'clean', 'repaired', 'refused', or
// nothing where several answers are right. `store: true` marks damage that lies beside the log.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { decodeStorageRecord, interruptedTurnClosers } from '@deepseek-ai/dsh-session'
import { pack } from './frames.mjs'
import { logPath, sessionFolder } from './place.mjs'

export async function writeDamages(source, out) {
  const kinds = damages(await readFile(source, 'utf8'))
  const index = []
  for (const { kind, bytes, header, expect, store, encoding = 'plain', cwd = header.cwd, beside = {}, flat, twin, cut } of kinds) {
    const base = join(out, kind)
    const root = join(base, 'sessions')
    await rm(base, { recursive: true, force: true })
    let file = logPath(root, { cwd, id: header.id, encoding })
    if (flat) file = join(dirname(dirname(file)), sessionFolder(header.id) + '.jsonl')
    const files = { [file]: bytes }
    for (const [name, content] of Object.entries(beside)) files[join(dirname(file), name)] = content
    if (twin) files[logPath(root, { cwd: twin.cwd, id: header.id, encoding })] = twin.bytes
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(path, content, { mode: 0o600 })
    }
    index.push({ kind, file: relative(out, file), id: header.id, root: relative(out, root), encoding, expect, store, cut })
  }
  await writeFile(join(out, 'index.json'), JSON.stringify(index, null, 1) + '\n')
  return index
}

export function damages(text) {
  const [first, ...rows] = text.trimEnd().split('\n')
  const header = JSON.parse(first)
  const events = rows.map(row => JSON.parse(row))
  const kinds = []
  const add = (kind, bytes, more = {}) => kinds.push({ kind, bytes, header, ...more })

  // Parts of the log that damage aims at.
  const where = (test, from = 0) => events.findIndex((event, n) => n >= from && test(event))
  const type = (name, from) => where(event => event.type === name, from)
  const asking = where(event => event.type === 'assistant/message' && event.data.message.content.filter(block => block.type === 'tool-call').length === 2)
  const [startA, startB] = [type('tool/call', asking), type('tool/call', type('tool/call', asking) + 1)]
  const [doneA, doneB] = [type('tool/result', asking), type('tool/result', type('tool/result', asking) + 1)]
  const prompt = type('user/message')
  const packed = where(event => event.type === 'text-chunks')
  const middle = Math.floor(rows.length / 2)
  const end = events.at(-1).seq + 1
  const time = events.at(-1).time
  const nextTurn = events.findLast(event => event.type === 'turn/end').data.turn + 1

  const file = (list, head = first) => [head, ...list].map(line => line + '\n').join('')
  const whole = file(rows)
  const json = value => JSON.stringify(value)
  const event = (name, data, more = {}, ahead = 0) => json({ type: name, seq: end + ahead, time, data, ...more })
  const insert = (at, ...lines) => [...rows.slice(0, at), ...lines, ...rows.slice(at)]
  const change = (at, edit) => rows.map((row, n) => n === at ? json(edit(events[n])) : row)
  const changeAll = (test, edit) => rows.map((row, n) => test(events[n]) ? json(edit(events[n])) : row)
  const without = at => rows.filter((_, n) => n !== at)
  const idle = old => ({ type: 'plan/mode', seq: old.seq, time: old.time, data: { active: false } })
  const half = line => line.slice(0, Math.floor(line.length / 2))
  const openTurn = [event('turn/start', { turn: nextTurn }), event('step/start', { turn: nextTurn, step: 1 }, {}, 1)]
  const question = event('user/message', { id: 'm-late', role: 'user', content: [{ type: 'text', text: 'One more thing' }], source: { kind: 'user' } }, { surfaceOp: 'append' }, 2)

  add('healthy', whole, { expect: 'clean' })

  // Ends
  add('end-line-torn', whole.slice(0, -30), { expect: 'repaired' })
  add('end-no-newline', whole.slice(0, -1), { expect: 'repaired' })
  add('end-open-turn-no-newline', file([...rows, ...openTurn, question]).slice(0, -1), { expect: 'repaired' })
  add('end-torn-next-record', whole + half(event('turn/start', { turn: nextTurn })), { expect: 'repaired' })
  add('end-torn-line-with-newline', file([...rows, half(event('turn/start', { turn: nextTurn }))]), { expect: 'repaired' })
  add('end-torn-inside-character', Buffer.concat([Buffer.from(whole), Buffer.from(`{"type":"todo/write","seq":${end},"data":"🌳`).subarray(0, -2)]), { expect: 'repaired' })
  add('end-nul-pad', whole + '\0'.repeat(512), { expect: 'repaired' })
  add('end-torn-and-nul-pad', whole.slice(0, -30) + '\0'.repeat(64), { expect: 'repaired' })
  add('end-blank-line', file([...rows, '']), { expect: 'repaired' })
  add('end-open-turn', file([...rows, ...openTurn]), { expect: 'repaired' })
  add('end-open-call', file([...rows, ...openTurn, event('tool/call', { turn: nextTurn, step: 1, callId: 'call-x', name: 'bash', arguments: '{}' }, {}, 2)]))

  // Lines in the middle
  add('middle-line-garbage', file(insert(middle, '#?!')))
  add('middle-line-nul', file(insert(middle, '\0'.repeat(40))), { expect: 'repaired' })
  add('middle-line-blank', file(insert(middle, '')), { expect: 'repaired' })
  add('middle-line-torn-extra', file(insert(middle, half(rows[middle]))), { expect: 'repaired' })
  add('middle-line-torn', file(rows.map((row, n) => n === middle ? half(row) : row)))
  add('middle-nul-run', file(rows.map((row, n) => n === middle ? '\0'.repeat(row.length) : row)))
  add('middle-line-twice', file(insert(middle, rows[middle - 1])), { expect: 'repaired' })
  add('middle-block-twice', file(insert(middle, ...rows.slice(middle - 4, middle))), { expect: 'repaired' })
  add('middle-line-lost', file(without(middle)))
  add('middle-lines-swapped', file(rows.map((row, n) => n === middle ? rows[n + 1] : n === middle + 1 ? rows[n - 1] : row)))
  add('glued-torn-in-front', file(rows.flatMap((row, n) => n === middle ? [half(row) + row] : [row])), { expect: 'repaired' })
  add('glued-two-whole', file(rows.flatMap((row, n) => n === middle ? [row + rows[n + 1]] : n === middle + 1 ? [] : [row])), { expect: 'repaired' })
  add('glued-two-whole-at-end', file([...rows.slice(0, -2), rows.at(-2) + rows.at(-1)]), { expect: 'repaired' })
  add('glued-to-header', file(rows.slice(1), first + rows[0]))
  add('split-by-newline', file(change(prompt, old => old)).replace('row 3', 'row\n3'))
  add('control-byte-in-string', file(rows).replace('row 3', 'row\u00013'))
  add('tab-in-string', file(rows).replace('row 3', 'row\t3'))
  add('bad-utf8-in-string', Buffer.from(whole.replace('row 3', 'row\u00013')).map(byte => byte === 1 ? 0xC3 : byte))
  add('crlf', whole.replaceAll('\n', '\r\n'))
  add('bom', '\uFEFF' + whole)
  add('key-twice', file(rows.map((row, n) => n === 1 ? row.replace('{"type"', '{"seq":77,"type"') : row)))

  // An unfinished last turn with damage inside it: the client cuts everything behind the damage.
  const lateTodo = event('todo/write', { todos: [] }, {}, 3)
  const lateMode = event('plan/mode', { active: true }, {}, 4)
  add('open-turn-torn-then-rewritten', file([...rows, ...openTurn, half(question), question, lateTodo, lateMode]), { expect: 'repaired' })
  add('open-turn-garbage-line', file([...rows, ...openTurn, '#?!', question, lateTodo]))
  add('open-turn-torn-record-lost', file([...rows, ...openTurn, half(question), lateTodo, lateMode]))
  add('open-turn-glued', file([...rows, ...openTurn, half(question) + question, lateTodo]), { expect: 'repaired' })
  add('open-turn-blank-line', file([...rows, ...openTurn, '', question, lateTodo]), { expect: 'repaired' })
  add('open-turn-line-twice', file([...rows, ...openTurn, question, question, lateTodo]), { expect: 'repaired' })

  // Header
  const head = more => file(rows, json({ ...header, ...more }))
  add('empty-file', '')
  add('header-only', file([]), { expect: 'clean' })
  add('header-no-newline', first)
  add('header-torn', half(first))
  add('header-broken', file(rows, half(first)))
  add('header-missing', rows.map(row => row + '\n').join(''))
  add('header-twice', file(insert(middle, first)))
  add('header-of-another', file(insert(middle, json({ ...header, id: 'stranger' }))))
  add('header-unknown-member', head({ weather: 'rain' }))
  add('header-retired-member', head({ approvalPolicy: 'ask' }))
  add('header-no-depth', head({ delegationDepth: undefined }))
  add('header-no-version', head({ version: undefined }))
  add('header-no-id', head({ id: undefined }))
  add('header-version-below', head({ version: -1 }))
  add('header-version-above', head({ version: 77 }), { expect: 'refused' })
  add('header-other-id', head({ id: 'stranger' }))
  add('header-other-folder', head({ cwd: '/elsewhere' }), { cwd: header.cwd })
  add('header-relative-folder', head({ cwd: 'orchard' }), { cwd: header.cwd })

  // Numbers
  add('seq-gap-at-end', file([...rows, event('turn/start', { turn: nextTurn }, {}, 1)]))
  add('seq-again-at-end', file([...rows, rows.at(-1).replace('turn/end', 'turn/start')]))
  add('seq-last-line-twice', file([...rows, rows.at(-1)]), { expect: 'repaired' })
  add('seq-fraction', file(change(3, old => ({ ...old, seq: 3.5 }))))
  add('seq-text', file(change(3, old => ({ ...old, seq: '3' }))))
  add('seq-restart', file([...rows, ...rows.slice(0, 12)]))

  // Envelope and vocabulary
  add('type-unknown', file([...rows, event('tomorrow/idea', {})]), { expect: 'refused' })
  add('type-unknown-ignorable', file([...rows, event('tomorrow/idea', {}, { ignorable: true })]), { expect: 'clean' })
  add('ignorable-false', file([...rows, event('todo/write', { todos: [] }, { ignorable: false })]))
  add('envelope-unknown-member', file([...rows, event('todo/write', { todos: [] }, { mood: 1 })]))
  add('time-fraction', file([...rows, event('todo/write', { todos: [] }, { time: 1.5 })]))
  add('data-missing', file([...rows, event('todo/write', undefined)]))
  add('row-array', file([...rows, '[3,4]']))
  add('row-null', file([...rows, 'null']))
  add('row-number', file([...rows, '7']))
  add('old-header-delta', file([...rows, event('request/header-delta', {})]))
  add('old-mode-set', file([...rows, event('mode/set', {})]))
  add('sources-as-ranges', file(changeAll(old => old.sourceEventSeqs?.length > 2, old => ({ ...old, sourceEventSeqs: [[old.sourceEventSeqs[0], old.sourceEventSeqs.at(-1)]] }))))

  // Messages and what the model sees
  const data = (old, more) => ({ ...old, data: { ...old.data, ...more } })
  add('message-no-id', file(change(prompt, old => data(old, { id: undefined }))))
  add('message-role', file(change(prompt, old => data(old, { role: 'assistant' }))))
  add('message-no-source', file(change(prompt, old => data(old, { source: undefined }))))
  add('message-not-on-surface', file(change(prompt, old => ({ ...old, surfaceOp: undefined }))))
  add('surface-mark-misplaced', file(change(type('turn/start'), old => ({ ...old, surfaceOp: 'append' }))))
  add('source-in-future', file(change(prompt, old => ({ ...old, sourceEventSeqs: [4444] }))))
  add('replace-unknown-node', file(changeAll(old => old.surfaceOp?.op === 'replace', old => ({ ...old, surfaceOp: { ...old.surfaceOp, start: 0 } }))))
  add('result-names-other-call', file(change(doneA, old => data(old, { message: { ...old.data.message, source: { kind: 'tool', callId: 'call-none' } } }))))

  // Calls
  const emptied = [asking, startA, startB, doneA, doneB]
  add('call-id-empty', file(rows.map((row, n) => emptied.includes(n) ? row.replaceAll(events[startB].data.callId, '') : row)), { expect: 'repaired' })
  add('call-id-empty-at-end', file([...rows, ...openTurn,
    event('assistant/message', { turn: nextTurn, step: 1, message: { id: 'm-empty', role: 'assistant', content: [{ type: 'tool-call', id: '', name: 'bash', arguments: '{}' }], source: { kind: 'model', provider: 'mock', model: 'mock-small' } } }, { surfaceOp: 'append', sourceEventSeqs: [] }, 2),
    event('tool/call', { turn: nextTurn, step: 1, callId: '', name: 'bash', arguments: '{}' }, {}, 3)]))
  add('call-id-twice', file(rows.map((row, n) => emptied.includes(n) ? row.replaceAll(events[startB].data.callId, events[startA].data.callId) : row)))
  add('call-start-lost', file(change(startA, idle)))
  add('call-unanswered-in-closed-step', file(change(doneA, idle)))
  add('result-twice', file(renumber(insert(doneA + 1, rows[doneA]), events[doneA].seq + 1)))

  // Turns, steps, compaction
  const firstEnd = type('turn/end')
  add('turn-end-lost', file(change(firstEnd, idle)))
  add('turn-number-jump', file([...rows, event('turn/start', { turn: nextTurn + 6 }), event('plan/mode', { active: true }, {}, 1)]))
  add('turn-number-again', file(changeAll(old => old.data.turn === nextTurn - 1, old => data(old, { turn: 1 }))))
  add('step-end-extra', file([...rows, event('step/end', { turn: nextTurn, step: 1 })]))
  add('step-end-lost', file(change(type('step/end'), idle)))
  add('compaction-open', file(changeAll(old => old.type === 'compaction/end', idle)))

  // Packed rows
  add('packed-arity', file(change(packed, old => data(old, { dt: [] }))))
  add('packed-unknown-member', file(change(packed, old => ({ ...old, mood: 1 }))))
  add('packed-bad-at-end', file([...rows, json({ type: 'text-chunks', seq0: end, time0: time, data: { turn: nextTurn, step: 1, index: 0, dt: [1, 1], texts: ['a'] } })]))

  // Two writers. The rescuer closes the open turn; the first writer comes back with the real result.
  for (const [name, upto] of [['none', startB], ['one', doneA]]) {
    const trunk = rows.slice(0, upto + 1)
    const closers = closersOf(trunk)
    add(`closers-overtaken-${name}-answered`, file([...trunk, ...closers, ...rows.slice(upto + 1)]), { expect: 'repaired' })
  }
  const lateRow = json({ ...events[doneB], seq: events[doneA].seq })
  add('closers-overtaken-at-end', file([...rows.slice(0, startB + 1), ...closersOf(rows.slice(0, startB + 1)), lateRow]), { expect: 'repaired' })

  // Beside the log
  const beside = { store: true }
  add('beside-other-encoding', whole, { ...beside, beside: { 'session.jsonl.zstd': pack(first + '\n') } })
  add('beside-temp-file', whole, { ...beside, beside: { 'session.jsonl.00ff00ff00ff.tmp': first + '\n' } })
  add('beside-later-generation', whole, { ...beside, beside: { 'session.v3.jsonl': json({ type: 'session', version: 3, id: header.id, createdAt: header.createdAt, cwd: header.cwd, isSeeded: false, delegationDepth: 0 }) + '\n' } })
  add('beside-flat-layout', whole, { ...beside, flat: true })
  add('beside-same-id-elsewhere', whole, { ...beside, twin: { cwd: '/home/ada/meadow', bytes: file(rows, json({ ...header, cwd: '/home/ada/meadow' })) } })

  // Crash points, each with a torn record behind it.
  const points = {
    'turn-start': type('turn/start'), 'user-message': prompt, chunks: asking - 1, assistant: asking,
    'first-call': startA, 'both-calls': startB, 'one-result': doneA, 'both-results': doneB, 'step-end': type('step/end'),
  }
  for (const [name, at] of Object.entries(points)) {
    add(`crash-${name}`, file(rows.slice(0, at + 1)), { expect: 'repaired', cut: true })
    add(`crash-${name}-torn`, file(rows.slice(0, at + 1)) + half(rows[at + 1]), { expect: 'repaired', cut: true })
    add(`crash-${name}-nul`, file(rows.slice(0, at + 1)) + '\0'.repeat(48), { expect: 'repaired', cut: true })
  }

  // Frames
  const z = (kind, list, more) => add(`zstd-${kind}`, Buffer.concat(list.map(part => Buffer.from(part))), { encoding: 'zstd', ...more })
  const cuts = [0, startA, firstEnd + 1, rows.length]
  const batches = cuts.slice(1).map((to, n) => rows.slice(cuts[n], to).map(row => row + '\n').join(''))
  const [h, a, b, c] = [first + '\n', ...batches].map(batch => pack(batch))
  const flipped = (frame, at) => Buffer.from(frame).fill(frame.at(at) ^ 0xFF, at < 0 ? frame.length + at : at, (at < 0 ? frame.length + at : at) + 1)
  const reserved = frame => { const copy = Buffer.from(frame); copy[4] |= 0x08; return copy }
  z('healthy', [h, a, b, c], { expect: 'clean' })
  z('no-checksums', [first + '\n', ...batches].map(batch => pack(batch, { checksum: false })))
  z('one-frame', [pack(whole)])
  z('torn-last-frame', [h, a, b, c.subarray(0, -25)], { expect: 'repaired' })
  z('torn-checksum', [h, a, b, c.subarray(0, -2)], { expect: 'repaired' })
  z('torn-checksum-whole', [h, a, b, c.subarray(0, -4)], { expect: 'repaired' })
  z('torn-magic', [h, a, b, c, a.subarray(0, 3)], { expect: 'repaired' })
  z('torn-open-turn', [h, a, b.subarray(0, -20)], { expect: 'repaired' })
  z('torn-open-turn-checksum', [h, a, pack(rows.slice(startA, doneA + 1).join('\n') + '\n').subarray(0, -3)], { expect: 'repaired' })
  z('torn-then-whole', [h, a, b.subarray(0, -20), c])
  z('torn-then-rewritten', [h, a, b.subarray(0, -20), b, c])
  z('nul-pad', [h, a, b, c, Buffer.alloc(256)], { expect: 'repaired' })
  z('nul-pair', [h, a, b, c, Buffer.alloc(2)], { expect: 'repaired' })
  z('garbage-behind', [h, a, b, c, 'no frame here'])
  z('text-behind', [h, a, b, c, openTurn.map(line => line + '\n').join('')])
  z('text-behind-open', [h, a, rows.slice(startA, doneA + 1).map(row => row + '\n').join('')])
  z('checksum-wrong-last', [h, a, b, flipped(c, -1)])
  z('checksum-wrong-middle', [h, flipped(a, -1), b, c])
  z('payload-flipped', [h, a, flipped(b, 40), c])
  z('payload-flipped-last', [h, a, b, flipped(c, 40)])
  z('reserved-bit', [h, a, reserved(b), c])
  z('reserved-bit-last', [h, a, b, reserved(c)])
  z('frame-lost', [h, a, c])
  z('frame-twice', [h, a, b, b, c], { expect: 'repaired' })
  z('last-frame-twice', [h, a, b, c, c], { expect: 'repaired' })
  z('frames-swapped', [h, b, a, c])
  z('last-frames-swapped', [h, a, c, b])
  z('skippable-frame', [h, Buffer.from([0x51, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 7, 7, 7]), a, b, c])
  z('record-over-two-frames', [h, pack(batches[0].slice(0, -15)), pack(batches[0].slice(-15) + batches[1]), c])
  z('ends-inside-record', [h, a, b, pack(batches[2].slice(0, -15))])
  z('plain-text', [whole])
  z('empty-frame', [h, pack(''), a, b, c])
  z('header-frame-torn', [h.subarray(0, -6)])
  z('open-turn', [h, a], { expect: 'repaired' })
  z('closers-overtaken', [h, a, pack(closersOf(rows.slice(0, startA)).map(row => row + '\n').join('')), b, c], { expect: 'repaired' })
  return kinds
}

/** Closers that the library would put behind these lines. */
function closersOf(rows) {
  const events = rows.flatMap(row => decodeStorageRecord(JSON.parse(row)))
  return interruptedTurnClosers(events).map(closer => JSON.stringify(closer))
}

/** Make the numbers dense again after one event was repeated as number `from`, so that only the repetition is left. */
function renumber(rows, from) {
  const moved = seq => seq >= from ? seq + 1 : seq
  let passed = 0
  return rows.map((row) => {
    const event = JSON.parse(row)
    const size = event.data.texts?.length ?? event.data.args?.length ?? 1
    event['seq0' in event ? 'seq0' : 'seq'] = passed
    passed += size
    if (event.sourceEventSeqs) event.sourceEventSeqs = event.sourceEventSeqs.map(moved)
    if (event.surfaceOp?.op === 'replace') {
      event.surfaceOp = { ...event.surfaceOp, start: moved(event.surfaceOp.start), end: moved(event.surfaceOp.end) }
      event.sourceEventSeqs.push(from)
    }
    return JSON.stringify(event)
  })
}
