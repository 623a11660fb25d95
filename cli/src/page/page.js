
document.querySelector(".tools").hidden = false;
document.addEventListener("click", function (event) {
  var button = event.target.closest("button[data-open]");
  if (!button) return;
  document.querySelectorAll("main details").forEach(function (details) {
    details.open = button.dataset.open !== "";
  });
});
