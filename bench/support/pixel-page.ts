// The page whose screenshots the pixels bench shrinks: what apps under test look like. Text in
// several sizes, a table, a chart of thin lines, cards with gradients, and one photo-like picture.
// Nothing in it is random from run to run.

/** One HTML page that fills any viewport. */
export function benchPage(): string {
  return `<!doctype html><meta charset="utf-8"><title>Orders</title><style>
  * { box-sizing: border-box } body { margin: 0; font: 14px/1.45 sans-serif; color: #1f2430; background: #f6f7f9 }
  header { background: linear-gradient(90deg, #2b3a67, #3f6fb5); color: #fff; padding: 12px 20px; font-size: 20px }
  nav { float: left; width: 180px; padding: 12px; background: #fff; border-right: 1px solid #dde1e8; min-height: 3000px }
  nav a { display: block; padding: 6px 8px; color: #3f4a60; border-radius: 6px }
  nav a:nth-child(2) { background: #e6eefb; color: #1c4fa1; font-weight: bold }
  main { margin-left: 180px; padding: 16px } .cards { display: flex; flex-wrap: wrap; gap: 12px }
  .card { flex: 1 1 150px; padding: 12px; border-radius: 10px; color: #fff; box-shadow: 0 2px 8px #0003 }
  .card b { display: block; font-size: 24px } canvas, svg { background: #fff; border-radius: 8px; margin: 14px 14px 0 0 }
  table { width: 100%; border-collapse: collapse; background: #fff; margin-top: 14px }
  th, td { text-align: left; padding: 9px 10px; border-bottom: 1px solid #e4e7ec } th { background: #eef1f5 }
  .tag { padding: 1px 8px; border-radius: 9px; font-size: 12px } .a { background: #d8f3dc; color: #1b6b3a } .b { background: #ffe3e3; color: #a02020 }
  @media (max-width: 500px) { nav { display: none } main { margin: 0 } td:nth-child(4), th:nth-child(4) { display: none } }
  </style><header>Back office &middot; Orders</header><nav></nav><main><div class="cards"></div>
  <svg width="320" height="170"></svg><canvas width="300" height="170"></canvas><table></table></main><script>
  let state = 7; const next = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const pick = (list) => list[Math.floor(next() * list.length)];
  const words = 'order invoice parcel refund pending receipt delivery window customer address courier label stock return shelf gift note price total'.split(' ');
  document.querySelector('nav').innerHTML = ['Overview', 'Orders', 'Customers', 'Stock', 'Returns', 'Reports', 'Settings'].map((t) => '<a>' + t + '</a>').join('');
  document.querySelector('.cards').innerHTML = [['#5b8def', '#3157b7', 'Open'], ['#34b27b', '#167a4e', 'Sent'], ['#f0a04b', '#c26a13', 'Waiting'], ['#d9637a', '#98304a', 'Returned']]
    .map(([a, b, t]) => '<div class="card" style="background:linear-gradient(135deg,' + a + ',' + b + ')">' + t + '<b>' + Math.floor(next() * 9000) + '</b>since Monday</div>').join('');
  let path = ''; for (let x = 0; x <= 300; x += 5) path += (x ? 'L' : 'M') + (10 + x) + ' ' + (30 + next() * 110).toFixed(1);
  document.querySelector('svg').innerHTML = [40, 80, 120].map((y) => '<path d="M10 ' + y + 'H310" stroke="#e0e4ea"/>').join('') + '<path d="' + path + '" fill="none" stroke="#3157b7" stroke-width="1.5"/>';
  const canvas = document.querySelector('canvas'), pen = canvas.getContext('2d'), image = pen.createImageData(300, 170);
  for (let y = 0; y < 170; y++) for (let x = 0; x < 300; x++) {
    const wave = Math.sin(x / 23) * Math.cos(y / 17) * 60 + next() * 22;
    image.data.set([120 + wave, 110 + wave / 2 + y / 4, 150 - wave / 2 + x / 8, 255], (y * 300 + x) * 4);
  }
  pen.putImageData(image, 0, 0);
  let rows = '<tr><th>Order</th><th>Customer</th><th>Contents</th><th>Remarks</th><th>State</th></tr>';
  for (let i = 0; i < 70; i++) {
    const some = (n) => Array.from({ length: n }, () => pick(words)).join(' ');
    rows += '<tr><td>#' + (48213 + i * 7) + '</td><td>' + pick(['Ada Moreau', 'Jun Park', 'Lena Fischer', 'Omar Haddad', 'Rosa Lind']) + '</td><td>' + some(3) + '</td><td>' + some(4) + '</td><td><span class="tag ' + pick(['a">sent', 'b">late']) + '</span></td></tr>';
  }
  document.querySelector('table').innerHTML = rows;
  </script>`;
}
