// Package message tells the messages of pi, which stand in the logs of the coding agent and of what was built on it.
//
//	"message":{"role":"user","content":"…"}                                      or blocks: text, image
//	"message":{"role":"assistant","content":[…],"stopReason":…,"model":…}        text, thinking, toolCall
//	"message":{"role":"toolResult","toolCallId":…,"toolName":…,"content":[…],"isError":…}
//	"message":{"role":"bashExecution","command":…,"output":…,"exitCode":…}       what the user ran himself
//	"message":{"role":"custom","customType":…,"content":…,"display":…}           of an extension
//	"message":{"role":"system","content":…,"sections":{…}}                       the first whole, later ones what changes
//
// The client sends summaries and commands in the user's name, in words of its own around them. It never sends an answer
// that failed or was given up. A message of a role that it does not know it leaves out.
//
// Facts measured with 1.6.0 and 0.73.1, and with pi-agent-core 0.87.1, which say the same words.
package message
