// A session in the form of release 2.0.76, with the logs of sub-agents beside it: one that a call asked for, and one of the runs
// that the client made at its start, whose first record names another session. The talk is invented.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const around = { userType: 'external', cwd: '/home/dev/project', version: '2.0.76', gitBranch: '' }

/** Writes them into a project's folder, and gives the paths of the files, below it, before and after an upgrade. */
export async function writeAgents(project, id) {
  await mkdir(project, { recursive: true, mode: 0o700 })
  const main = log(id, {})
  main.user('ask a helper')
  const call = { type: 'tool_use', id: 'toolu_helper', name: 'Task', input: { description: 'count pears', prompt: 'Count the pears', subagent_type: 'general-purpose' } }
  main.answer('m1', [{ type: 'text', text: 'a helper will count' }, call])
  main.user([{ type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: 'seven pears' }] }], {
    toolUseResult: { status: 'completed', prompt: 'Count the pears', agentId: 'ab29800', content: [{ type: 'text', text: 'seven pears' }] },
  })
  main.answer('m2', [{ type: 'text', text: 'there are seven' }])
  const helper = log(id, { isSidechain: true, agentId: 'ab29800' })
  helper.user('Count the pears')
  helper.answer('m3', [{ type: 'text', text: 'seven pears' }])
  const warm = log(id, { isSidechain: true, agentId: 'a21c197' })
  warm.user('Warmup', { sessionId: '00000000-0000-4000-8000-00000000000f' })
  warm.answer('m4', [{ type: 'text', text: 'ready' }])
  await writeFile(join(project, `${id}.jsonl`), main.text())
  await writeFile(join(project, 'agent-ab29800.jsonl'), helper.text())
  await writeFile(join(project, 'agent-a21c197.jsonl'), warm.text())
  return {
    moved: ['agent-ab29800.jsonl', 'agent-a21c197.jsonl'].map(name => [name, join(id, 'subagents', name)]),
    header: [join(id, 'subagents', 'agent-ab29800.meta.json'), { agentType: 'general-purpose', description: 'count pears', toolUseId: call.id, finished: true }],
  }
}

function log(sessionId, kind) {
  const lines = []
  let last = null
  const node = (body, more = {}) => {
    const uuid = `${(kind.agentId ?? 'a').padEnd(8, '0')}-0000-4000-8000-${String(lines.length).padStart(12, '0')}`
    const timestamp = `2026-01-05T10:00:${String(lines.length).padStart(2, '0')}.000Z`
    lines.push(JSON.stringify({ parentUuid: last, isSidechain: false, ...around, sessionId, ...kind, ...body, uuid, timestamp, ...more }))
    last = uuid
  }
  return {
    user: (content, more) => node({ type: 'user', message: { role: 'user', content } }, more),
    answer(id, blocks) {
      blocks.forEach((block, n) => {
        const end = n < blocks.length - 1 ? null : block.type === 'tool_use' ? 'tool_use' : 'end_turn'
        const message = { id, type: 'message', role: 'assistant', model: 'model-x', content: [block], stop_reason: end, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }
        node({ message, requestId: 'req_1', type: 'assistant' })
      })
    },
    text: () => `${lines.join('\n')}\n`,
  }
}
