// What scripts add to pages that work without them.
import "./live.js";
import "./dialogs.js";
import "./choosing.js";
