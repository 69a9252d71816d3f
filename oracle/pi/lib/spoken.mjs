// Sessions that hold one of each thing that is said, and of what is said and not sent: name -> records by name.
import { author } from './author.mjs'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const text = words => ({ type: 'text', text: words })
const ran = { output: 'one\ntwo\n', exitCode: 0, cancelled: false, truncated: false }

const images = () => author()
  .message('q1', { role: 'user', content: [text('Look at this.'), image, text('And at that.'), { ...image, mimeType: 'image/webp' }] }).answer('c1', '', ['i1', 'i2'])
  .message('r1', { role: 'toolResult', toolCallId: 'i1', toolName: 'bash', content: [text('It is'), image, text('so.')], isError: false })
  .message('r2', { role: 'toolResult', toolCallId: 'i2', toolName: 'bash', content: [image], isError: true }).answer('a1', 'Both are dots.')
  .message('q2', { role: 'user', content: 'A prompt that is a string.' }).answer('a2', 'So it is.')

const thoughts = () => {
  const blocks = [{ type: 'thinking', thinking: 'I think.', thinkingSignature: 'c2lnbmVk' }, { type: 'thinking', thinking: '', thinkingSignature: 'c2VhbGVk', redacted: true }, text('First.'), text('Second.')]
  const call = { type: 'toolCall', id: 't1', name: 'bash', arguments: { n: 9007199254740993, nested: { a: [1, 'two', null] }, text: '\ud83d \u2028 "' } }
  return author().user('q1', 'Think.')
    .message('c1', { role: 'assistant', content: [...blocks, call, text('Third.')], api: 'anthropic-messages', provider: 'oracle', model: 'oracle-1', usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }, stopReason: 'toolUse' })
    .message('r1', { role: 'toolResult', toolCallId: 't1', toolName: 'bash', content: [text('One.'), text('Two.')], isError: false }).answer('a1', 'Done.')
}

const commands = () => author().user('q1', 'I run things.').answer('a1', 'Do.')
  .message('b1', { role: 'bashExecution', command: 'ls', ...ran }).message('b2', { role: 'bashExecution', command: 'secret', ...ran, excludeFromContext: true })
  .message('b3', { role: 'bashExecution', command: 'false', ...ran, output: '', exitCode: 3 }).message('b4', { role: 'bashExecution', command: 'sleep', ...ran, output: '', exitCode: undefined, cancelled: true })
  .message('b5', { role: 'bashExecution', command: 'yes', ...ran, truncated: true, fullOutputPath: '/tmp/yes.log' }).user('q2', 'Those were they.').answer('a2', 'Fine.')

const extensions = () => author().user('q1', 'Extensions speak.').answer('a1', 'Let them.')
  .put('e1', 'custom_message', { customType: 'k', content: 'shown', display: true }).put('e2', 'custom_message', { customType: 'k', content: [text('hidden'), image], display: false })
  .message('e3', { role: 'custom', customType: 'k', content: 'as a message', display: true }).message('e4', { role: 'oracle', content: 'of no known role' })
  .put('e5', 'custom', { customType: 'k', data: { text: 'state' } }).user('q2', 'Done?').answer('a2', 'Done.')

const edits = () => {
  const book = author().user('q1', 'A prompt that is edited.').answer('c1', 'I will look.', ['d1']).result('r1', 'd1', 'a result that is edited').answer('a1', 'An answer that is edited.')
    .user('q2', 'A prompt that is taken out.').answer('a2', 'An answer to it.').put('e1', 'custom_message', { customType: 'k', content: 'words of an extension', display: true })
    .message('b1', { role: 'bashExecution', command: 'ls', ...ran }).message('b2', { role: 'bashExecution', command: 'pwd', ...ran })
  return book.put('x1', 'context_edit', { targetId: book.id('q1'), replacement: { content: 'a short prompt' } })
    .put('x2', 'context_edit', { targetId: book.id('r1'), replacement: { content: [text('a short'), image, text('result')] } })
    .put('x3', 'context_edit', { targetId: book.id('a1'), replacement: { content: 'no answer' } }).put('x4', 'context_edit', { targetId: book.id('a1'), replacement: { content: [text('a short answer')] } })
    .put('x5', 'context_edit', { targetId: book.id('q2'), replacement: null }).put('x6', 'context_edit', { targetId: book.id('e1'), replacement: { content: 'other words' } })
    .put('x7', 'context_edit', { targetId: book.id('b1'), replacement: { content: 'no command' } }).put('x8', 'context_edit', { targetId: book.id('b2'), replacement: null })
    .user('q3', 'What is left?').answer('a3', 'Less.')
}

const compactions = () => {
  const book = author().user('q1', 'First.').answer('a1', 'One.').user('q2', 'Second.').answer('c2', 'Two.', ['g1']).result('r2', 'g1', 'two').answer('a2', 'Two it is.')
  book.put('k1', 'compaction', { summary: 'One was said.', firstKeptEntryId: book.id('q2'), tokensBefore: 9 }).user('q3', 'Third.').answer('a3', 'Three.')
  book.put('k2', 'compaction', { summary: 'One was said, and an earlier summary is kept.', firstKeptEntryId: book.id('a2'), tokensBefore: 9 }).user('q4', 'Fourth.').answer('a4', 'Four.')
  return book.put('k3', 'compaction', { summary: 'With a system message.', firstKeptEntryId: book.id('q4'), tokensBefore: 9, systemMessage: { role: 'system', content: 'Be brief.', timestamp: 1 } }).user('q5', 'Fifth.').answer('a5', 'Five.')
}

const alone = () => {
  const book = author().user('q1', 'First.').answer('a1', 'One.')
  return book.put('k1', 'compaction', { summary: 'Nothing is kept.', firstKeptEntryId: 'none', tokensBefore: 9 })
}

const branches = () => author().user('q1', 'First.').answer('a1', 'One.').goTo(null).put('s0', 'branch_summary', { fromId: 'root', summary: '' })
  .user('q2', 'Again, from the start.').answer('a2', 'One again.').user('q3', 'On.').answer('a3', 'On and on.').goTo('a2').put('s1', 'branch_summary', { fromId: 'b0000006', summary: 'It went on.' }).user('q4', 'Another way.').answer('a4', 'A better one.')

const repeated = () => author().user('q1', 'Count.').answer('c1', 'Twice.', ['call_0', 'call_1']).result('r2', 'call_1', 'two').result('r1', 'call_0', 'one').answer('a1', 'Counted.')
  .user('q2', 'Again.').answer('c2', '', ['call_0']).result('r3', 'call_0', 'three').answer('a2', 'Three.').user('q3', 'And one that nobody answers.').answer('c3', 'Try.', ['call_0', 'call_1']).result('r4', 'call_1', 'four').user('q4', 'Never mind.').answer('a3', 'Right.')

export const spoken = Object.fromEntries(Object.entries({ images, thoughts, commands, extensions, edits, compactions, alone, branches, repeated }).map(([name, book]) => [name, book().rows()]))
