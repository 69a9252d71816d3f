// node --test selftest.mjs: the check itself must be able to say no. Run it, with Node 24, in the folder that ../../install.sh pi/harness prints.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const installed = await import('@earendil-works/pi-agent-core').then(() => true, () => false)
const scratch = mkdtempSync(join(tmpdir(), 'sessfix-selftest-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const { lostEntries, sentFaults, homeIn, runTrial } = await import('./lib/trial.mjs')
const { resultsIn } = await import('./lib/logs.mjs')
const user = text => ({ role: 'user', calls: [], text })
const asks = (...calls) => ({ role: 'assistant', calls, text: '', stopReason: 'toolUse' })
const result = (id, text) => ({ role: 'toolResult', id, calls: [], text })

test('no fault', () => {
  const known = new Map([['a', 'real']])
  assert.deepEqual(sentFaults([user('x'), asks('a', 'b'), result('a', 'real'), result('b', 'TOOL_OUTCOME_UNKNOWN: …'), user('y')], known, new Set(['b'])), [])
  assert.deepEqual(sentFaults([{ ...asks('a'), stopReason: 'aborted' }, user('y')], known, new Set()), [])
  assert.deepEqual(lostEntries(['1', '2'], ['1', '2', '3']), [])
})

const FAULTS = {
  'call a has no result': [asks('a'), user('y')],
  'the second': [asks('a'), result('a', 'real'), result('a', 'real')],
  'no call in front of it': [result('a', 'real')],
  'is on record, and the model reads: made up': [asks('a'), result('a', 'made up')],
  'nothing is on record of b': [asks('b'), result('b', 'made up')],
  'had begun, and is said not to have': [asks('b'), result('b', 'TOOL_NOT_STARTED')],
}
for (const [words, sent] of Object.entries(FAULTS)) {
  test(`fault: ${words}`, () => {
    const faults = sentFaults(sent, new Map([['a', 'real']]), new Set(['b']))
    assert.ok(faults.some(fault => fault.includes(words)), faults.join('\n') || 'none')
  })
}

test('entries that are gone or elsewhere', () => {
  assert.match(lostEntries(['1', '2'], ['2'])[0], /is lost/)
  assert.match(lostEntries(['1', '2'], ['2', '1'])[0], /changed places/)
})

test('results in a log, wherever they wait', () => {
  const message = { role: 'toolResult', toolCallId: 'a', content: [{ type: 'text', text: 'real' }] }
  const line = JSON.stringify([{ kind: 'value', value: { entry: { message } } }])
  assert.deepEqual([...resultsIn(Buffer.from(`${line}\n`))], [['a', 'real']])
})

/** What a program does wrong, and what is said of it. */
const PROGRAMS = {
  'is blind': ['return 0', /still open|a torn log/],
  'does nothing': ['return verify ? 1 : 0', /repair changed nothing/],
  'cuts all but the header': ['if (!verify) write(text.split("\\n")[0] + "\\n"); return verify && text.split("\\n").length > 2 ? 1 : 0', /an entry is lost/],
  'refuses what it could mend': ['return 3', /there is a safe repair/],
  'writes and refuses': ['if (!verify) write(text + "\\n"); return 3', /changed the file/],
  'is in trouble': ['return 2', /verify ends with 2/],
  'writes when it looks': ['if (verify) write(text + "\\n"); return 1', /verify changed the file/],
  'leaves a copy': ['writeFileSync(file.replace(".jsonl", ".old.jsonl"), text); return verify ? 1 : 0', /left something beside/],
}
if (installed) {
  const { ownSources } = await import('./lib/sources.mjs')
  const { endOpeners } = await import('./lib/open.mjs')
  after(() => endOpeners())
  const env = await homeIn(join(scratch, 'client'))
  const sources = await ownSources(scratch, env, { names: ['one-by-one'] })
  const killed = sources.find(({ name }) => name.startsWith('killed/'))
  for (const [n, [name, [body, words]]] of Object.entries(PROGRAMS).entries()) {
    test(`a program that ${name}`, async () => {
      const binary = join(scratch, `program-${n}.mjs`)
      const file = 'process.argv.at(-1)'
      writeFileSync(binary, `#!${process.execPath}\nimport { readFileSync, writeFileSync } from 'node:fs'\nconst file = ${file}, verify = process.argv[2] === 'verify', text = readFileSync(file, 'utf8')
const write = words => writeFileSync(file, words)\nconst act = () => { ${body} }\nprocess.exit(act())\n`)
      chmodSync(binary, 0o755)
      const { outcome, faults } = await runTrial(binary, killed, join(scratch, String(n)), env)
      assert.equal(outcome, 'failed', faults.join('\n'))
      assert.ok(faults.some(line => words.test(line)), faults.join('\n'))
    })
  }
} else test('whole repairs', { skip: 'the library is not installed here' }, () => {})
